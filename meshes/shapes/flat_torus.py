"""The flat torus."""

import math

import numpy as np

from meshes.mesh import Mesh
from meshes.refine import sweep, whole_number
from meshes.shapes.annulus import ring
from meshes.shapes.topology import Topology
from meshes.tables import tables

TOPOLOGY = Topology(betti=(1, 2, 1), relative=(1, 2, 1), measure=4 * math.pi**2)


def flat_torus(resolution: int, *, periods: tuple[float, float] = (2 * math.pi, 2 * math.pi)) -> Mesh:
    """The periodic rectangle with `resolution` edges a period, measured by edge lengths; points lie in the rectangle.

    >>> mesh = flat_torus(4)
    >>> len(mesh.points), len(mesh.lengths)
    (16, 48)
    """
    whole_number(resolution, "resolution", 3)
    if not all(math.isfinite(p) and p > 0 for p in periods):
        raise ValueError(f"got periods={periods}; expected two positive finite numbers")
    swept = sweep(ring(resolution), resolution, np.arange(resolution))
    step = np.diff(swept.points[tables(swept).simplices[1]], axis=1)[:, 0]
    step = (step - np.round(step)) * np.array(periods)
    return Mesh(swept.points * np.array(periods), swept.cells, lengths=np.linalg.norm(step, axis=1))
