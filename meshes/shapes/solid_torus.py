"""The solid torus."""

import math

import numpy as np

from meshes.change import orient
from meshes.layout import Layout, Structured, arrange
from meshes.mesh import Mesh
from meshes.refine import mapped, sweep, whole_number
from meshes.shapes.disk import disk
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 1, 0, 0), relative=(0, 0, 1, 1), measure=2 * math.pi**2 * 0.4**2)


def solid_torus(resolution: int, *, major: float = 1.0, minor: float = 0.4, layout: Layout = Structured()) -> Mesh:
    """Disks of radius `minor` (`resolution` rings each) carried round the z axis at distance `major`.

    >>> import meshes
    >>> meshes.betti(solid_torus(1))
    (1, 1, 0, 0)
    """
    whole_number(resolution, "resolution")
    radii(major, minor)
    section = disk(resolution, radius=minor)
    layers = max(3, round(2 * math.pi * major * resolution / minor))
    swept = sweep(section, layers, np.arange(len(section.points)))
    return arrange(orient(mapped(swept, about_axis(swept.points, major))).mesh, layout)


def radii(major: float, minor: float) -> None:
    """ValueError unless 0 < minor < major."""
    if not 0 < minor < major < math.inf:
        raise ValueError(f"got major={major}, minor={minor}; expected 0 < minor < major")


def about_axis(points: np.ndarray, major: float) -> np.ndarray:
    """Sections (x, y, t) carried round the z axis at distance major, a full turn for t from 0 to 1."""
    x, y, turn = points[:, 0] + major, points[:, 1], 2 * np.pi * points[:, 2]
    return np.stack([x * np.cos(turn), x * np.sin(turn), y], axis=1)
