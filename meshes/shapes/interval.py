"""The interval."""

import numpy as np

from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import whole_number
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0), relative=(0, 1), measure=1.0)


def interval(resolution: int, *, start: float = 0.0, stop: float = 1.0, layout: Layout = Structured()) -> Mesh:
    """[start, stop] in `resolution` edges; groups left and right.

    >>> interval(2).points[:, 0].tolist()
    [0.0, 0.5, 1.0]
    """
    whole_number(resolution, "resolution")
    if not stop > start:
        raise ValueError(f"got the interval from {start} to {stop}; expected start below stop")
    number = np.arange(resolution + 1)
    points = start + (stop - start) * number[:, None] / resolution
    groups = {"left": np.array([[0]]), "right": np.array([[resolution]])}
    return arrange(Mesh(points, np.stack([number[:-1], number[1:]], axis=1), groups), layout)
