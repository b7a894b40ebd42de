"""The ball."""

import math

import numpy as np

from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import positive, refine, whole_number
from meshes.shapes.disk import rounded
from meshes.shapes.sphere import icosahedron
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 0, 0), relative=(0, 0, 0, 1), measure=4 * math.pi / 3)


def ball(resolution: int, *, radius: float = 1.0, layout: Layout = Structured()) -> Mesh:
    """The ball about the origin: the cone over an icosahedron, each edge cut into `resolution`, its layers rounded.

    >>> ball(2).cells.shape
    (160, 4)
    """
    whole_number(resolution, "resolution")
    positive(radius, "radius")
    skin = icosahedron()
    points = np.concatenate([np.zeros((1, 4)), np.pad(skin.points, ((0, 0), (0, 1)), constant_values=1.0)])
    cone = Mesh(points, np.concatenate([np.zeros((20, 1), np.int64), skin.cells + 1], axis=1))
    return arrange(rounded(refine(cone, resolution), radius), layout)
