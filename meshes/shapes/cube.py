"""The cube."""

import itertools

import numpy as np

from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import positive, refine, whole_number
from meshes.shapes.sides import box_sides
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 0, 0), relative=(0, 0, 0, 1), measure=1.0)


def cube(resolution: int, *, side: float = 1.0, layout: Layout = Structured()) -> Mesh:
    """[0, side]^3 with `resolution` edges a side, each small cube in six tetrahedra about its diagonal; sides named.

    >>> cube(2).cells.shape
    (48, 4)
    """
    whole_number(resolution, "resolution")
    positive(side, "side")
    return box_sides(arrange(refine(blocks([(0, 0, 0)], side), resolution), layout), side)


def blocks(corners: list[tuple[int, int, int]], side: float = 1.0) -> Mesh:
    """Unit cubes at integer corners, each in six positive tetrahedra about its diagonal, scaled by side."""
    cells = []
    for corner in corners:
        for order in itertools.permutations(range(3)):
            path = [np.array(corner)]
            for axis in order:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            odd = sum(order[i] > order[j] for i in range(3) for j in range(i + 1, 3)) % 2
            cells.append(path if not odd else [path[0], path[1], path[3], path[2]])
    points, number = np.unique(np.array(cells).reshape(-1, 3), axis=0, return_inverse=True)
    return Mesh(side * points.astype(float), number.reshape(-1, 4))
