"""The square."""

import numpy as np

from meshes.layout import Delaunay, Layout, Structured, arrange, scatter
from meshes.mesh import Mesh
from meshes.refine import positive, refine, whole_number
from meshes.shapes.sides import box_sides, polygon
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 0), relative=(0, 0, 1), measure=1.0)


def square(resolution: int, *, side: float = 1.0, layout: Layout = Structured()) -> Mesh:
    """[0, side]^2, `resolution` edges a side, cut along rising diagonals; groups left, right, lower, upper.

    >>> square(3).cells.shape
    (18, 3)
    """
    whole_number(resolution, "resolution")
    positive(side, "side")
    corners = side * np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    if isinstance(layout, Delaunay):
        mesh = scatter([polygon(corners[[0, 1, 3, 2]], resolution)], side / resolution, seed=layout.seed)
    else:
        mesh = arrange(refine(Mesh(corners, np.array([[0, 1, 3], [0, 3, 2]])), resolution), layout)
    return box_sides(mesh, side)
