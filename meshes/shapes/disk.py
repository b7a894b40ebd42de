"""The disk."""

import math

import numpy as np

from meshes.layout import Delaunay, Layout, Structured, arrange, scatter
from meshes.mesh import Mesh
from meshes.refine import mapped, positive, refine, whole_number
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 0, 0), relative=(0, 0, 1), measure=math.pi)


def disk(resolution: int, *, radius: float = 1.0, layout: Layout = Structured()) -> Mesh:
    """The disk about the origin: `resolution` rings, the r-th of 6 r points.

    >>> len(disk(3).points)
    37
    """
    whole_number(resolution, "resolution")
    positive(radius, "radius")
    if isinstance(layout, Delaunay):
        return scatter([circle(6 * resolution, radius)], radius / resolution, seed=layout.seed)
    hexagon = np.concatenate([np.zeros((1, 3)), np.pad(circle(6, 1.0), ((0, 0), (0, 1)), constant_values=1.0)])
    fan = Mesh(hexagon, np.array([[0, 1 + i, 1 + (i + 1) % 6] for i in range(6)]))
    return arrange(rounded(refine(fan, resolution), radius), layout)


def circle(count: int, radius: float) -> np.ndarray:
    """Points on a circle about the origin, counter-clockwise."""
    angle = 2 * np.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def rounded(mesh: Mesh, radius: float) -> Mesh:
    """Points (direction, share): each in its direction, at its share of the radius."""
    direction, share = mesh.points[:, :-1], mesh.points[:, -1:]
    norm = np.linalg.norm(direction, axis=1, keepdims=True)
    return mapped(mesh, radius * share * np.divide(direction, norm, out=np.zeros_like(direction), where=norm > 0))
