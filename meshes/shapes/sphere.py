"""The sphere."""

import math

import numpy as np

from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import mapped, positive, refine, whole_number
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 1), relative=(1, 0, 1), measure=4 * math.pi)


def sphere(resolution: int, *, radius: float = 1.0, layout: Layout = Structured()) -> Mesh:
    """The sphere about the origin: each face of an icosahedron cut into resolution^2, projected.

    >>> len(sphere(3).points)
    92
    """
    whole_number(resolution, "resolution")
    positive(radius, "radius")
    return projected(arrange(projected(refine(icosahedron(), resolution), 1.0), layout), radius)


def icosahedron() -> Mesh:
    """The regular icosahedron on the unit sphere, wound outwards."""
    golden = (1 + math.sqrt(5)) / 2
    points = np.array([p for s in (1, -1) for t in (golden, -golden) for p in ((0, s, t), (s, t, 0), (t, 0, s))])
    near = np.linalg.norm(points[:, None] - points, axis=2) < 2.1
    faces = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]
    ]
    cells = np.array([f if np.linalg.det(points[list(f)]) > 0 else (f[0], f[2], f[1]) for f in faces])
    return Mesh(points / np.linalg.norm(points[0]), cells)


def projected(mesh: Mesh, radius: float) -> Mesh:
    """Points pushed to the sphere of the given radius about the origin."""
    return mapped(mesh, radius * mesh.points / np.linalg.norm(mesh.points, axis=1, keepdims=True))
