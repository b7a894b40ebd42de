"""The Klein bottle."""

import numpy as np

from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import mapped, sweep, whole_number
from meshes.shapes.annulus import ring
from meshes.shapes.solid_torus import radii
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 1, 0), relative=(1, 1, 0), measure=None, orientable=False, gf2=(1, 2, 1))


def klein(resolution: int, *, major: float = 1.0, minor: float = 0.4, layout: Layout = Structured()) -> Mesh:
    """The Klein bottle in four dimensions, where it does not cross itself: sections of `resolution` points.

    ((major + minor cos v) cos u, (major + minor cos v) sin u, minor sin v cos(u/2), minor sin v sin(u/2)).

    >>> import meshes
    >>> meshes.betti(klein(5)), meshes.betti(klein(5), prime=2)
    ((1, 1, 0), (1, 2, 1))
    """
    whole_number(resolution, "resolution", 3)
    radii(major, minor)
    layers = max(5, round(resolution * major / minor))
    swept = sweep(ring(resolution), layers, -np.arange(resolution) % resolution)
    v, u = 2 * np.pi * swept.points.T
    radius = major + minor * np.cos(v)
    high = minor * np.sin(v)
    points = np.stack([radius * np.cos(u), radius * np.sin(u), high * np.cos(u / 2), high * np.sin(u / 2)], axis=1)
    return arrange(mapped(swept, points), layout)
