"""The spherical shell."""

import math

import numpy as np

from meshes.change import orient
from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import mapped, refine, sweep, whole_number
from meshes.shapes.sides import with_sides
from meshes.shapes.sphere import icosahedron, projected
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 1, 0), relative=(0, 1, 0, 1), measure=4 * math.pi / 3 * (1 - 0.5**3))


def shell(resolution: int, *, inner: float = 0.5, outer: float = 1.0, layout: Layout = Structured()) -> Mesh:
    """inner < |x| < outer: `resolution` layers over a sphere; sides named.

    The sphere has twice as many edges on an icosahedron's edge.

    >>> shell(1).cells.shape
    (240, 4)
    """
    whole_number(resolution, "resolution")
    if not 0 < inner < outer < math.inf:
        raise ValueError(f"got inner={inner}, outer={outer}; expected 0 < inner < outer")
    solid = sweep(projected(refine(icosahedron(), 2 * resolution), 1.0), resolution)
    radius = inner + (outer - inner) * solid.points[:, 3:]
    mesh = arrange(orient(mapped(solid, radius * solid.points[:, :3])).mesh, layout)
    distance = np.linalg.norm(mesh.points, axis=1)
    return with_sides(mesh, {"inner": distance < (inner + outer) / 2, "outer": distance > (inner + outer) / 2})
