"""The projective plane."""

import numpy as np
from scipy.spatial import KDTree

from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import refine, whole_number
from meshes.shapes.sphere import icosahedron, projected
from meshes.shapes.topology import Topology
from meshes.tables import unique_inverse

TOPOLOGY = Topology(betti=(1, 0, 0), relative=(1, 0, 0), measure=None, orientable=False, gf2=(1, 1, 1))


def projective_plane(resolution: int = 1, *, layout: Layout = Structured()) -> Mesh:
    """The sphere with opposite points made one; resolution 1 is the minimal triangulation, 6 vertices and 10 triangles.

    Its points are in four dimensions, where it does not cross itself: (x y, x z, y^2 - z^2, 2 y z) of (x, y, z) on the
    sphere.

    >>> projective_plane().cells.shape
    (10, 3)
    """
    whole_number(resolution, "resolution")
    double = projected(refine(icosahedron(), resolution), 1.0)
    opposite = np.asarray(KDTree(double.points).query(-double.points)[1])
    kept, number = unique_inverse(np.minimum(np.arange(len(double.points)), opposite))
    cells = number[double.cells]
    _, first = np.unique(np.sort(cells, axis=1), axis=0, return_index=True)
    x, y, z = double.points[kept].T
    points = np.stack([x * y, x * z, y**2 - z**2, 2 * y * z], axis=1)
    return arrange(Mesh(points, cells[np.sort(first)]), layout)
