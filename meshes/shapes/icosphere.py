"""The sphere by repeated halving."""

import math

from meshes.mesh import Mesh
from meshes.refine import positive, refine, whole_number
from meshes.shapes.sphere import icosahedron, projected
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 1), relative=(1, 0, 1), measure=4 * math.pi)


def icosphere(level: int, *, radius: float = 1.0) -> Mesh:
    """The sphere from an icosahedron whose edges are halved and projected `level` times: 10 * 4^level + 2 vertices.

    >>> len(icosphere(2).points)
    162
    """
    whole_number(level, "level", 0)
    positive(radius, "radius")
    mesh = icosahedron()
    for _ in range(level):
        mesh = projected(refine(mesh, 2), 1.0)
    return projected(mesh, radius)
