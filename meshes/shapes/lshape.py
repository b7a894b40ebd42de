"""The L-shaped domain."""

import numpy as np

from meshes.layout import Delaunay, Layout, Structured, arrange, scatter
from meshes.mesh import Mesh
from meshes.refine import refine, whole_number
from meshes.shapes.sides import polygon
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 0), relative=(0, 0, 1), measure=3.0)


def lshape(resolution: int, *, layout: Layout = Structured()) -> Mesh:
    """[-1, 1]^2 without [0, 1] x [-1, 0], with `resolution` edges a unit; the corner of 3 pi / 2 is at the origin.

    >>> lshape(2).cells.shape
    (24, 3)
    """
    whole_number(resolution, "resolution")
    corners = np.array([[-1.0, -1], [0, -1], [-1, 0], [0, 0], [1, 0], [-1, 1], [0, 1], [1, 1]])
    if isinstance(layout, Delaunay):
        loop = polygon(corners[[0, 1, 3, 4, 7, 6, 5, 2]], resolution)
        return scatter([loop], 1 / resolution, seed=layout.seed)
    squares = [(0, 1, 2, 3), (2, 3, 5, 6), (3, 4, 6, 7)]
    cells = np.array([cell for a, b, c, d in squares for cell in ((a, b, d), (a, d, c))])
    return arrange(refine(Mesh(corners, cells), resolution), layout)
