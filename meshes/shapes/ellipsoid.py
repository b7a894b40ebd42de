"""The ellipsoid."""

import math

import numpy as np
from scipy.special import elliprg

from meshes.layout import Layout, Structured
from meshes.mesh import Mesh
from meshes.refine import mapped, positive
from meshes.shapes.sphere import sphere
from meshes.shapes.topology import Topology

# the area of an ellipsoid is 4 pi R_G(a^2 b^2, a^2 c^2, b^2 c^2), Carlson's symmetric elliptic integral
TOPOLOGY = Topology((1, 0, 1), (1, 0, 1), measure=4 * math.pi * float(elliprg(0.5**2, 0.3**2, 0.5**2 * 0.3**2)))


def ellipsoid(
    resolution: int, *, axes: tuple[float, float, float] = (1.0, 0.5, 0.3), layout: Layout = Structured()
) -> Mesh:
    """The ellipsoid with these half-axes: the sphere, stretched.

    >>> len(ellipsoid(2).points)
    42
    """
    for axis in axes:
        positive(axis, "axes")
    mesh = sphere(resolution, layout=layout)
    return mapped(mesh, mesh.points * np.array(axes))
