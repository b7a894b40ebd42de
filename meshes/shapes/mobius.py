"""The Mobius band."""

import numpy as np

from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import mapped, sweep, whole_number
from meshes.shapes.interval import interval
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 1, 0), relative=(0, 0, 0), measure=None, orientable=False)


def mobius(resolution: int, *, width: float = 0.6, layout: Layout = Structured()) -> Mesh:
    """A band of the given width about the unit circle with half a turn in it, `resolution` edges across.

    >>> import meshes
    >>> meshes.betti(mobius(2)), meshes.check(mobius(2)).boundary_loops
    ((1, 1, 0), 1)
    """
    whole_number(resolution, "resolution")
    if not 0 < width < 2:
        raise ValueError(f"got width={width}; expected one between 0 and 2")
    layers = max(5, round(2 * np.pi * resolution / width))
    band = sweep(interval(resolution, start=-width / 2, stop=width / 2), layers, np.arange(resolution + 1)[::-1])
    across, turn = band.points[:, 0], 2 * np.pi * band.points[:, 1]
    radius = 1 + across * np.cos(turn / 2)
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn), across * np.sin(turn / 2)], axis=1)
    return arrange(mapped(band, points), layout)
