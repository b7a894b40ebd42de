"""The annulus."""

import math

import numpy as np

from meshes.change import orient
from meshes.layout import Delaunay, Layout, Structured, arrange, scatter
from meshes.mesh import Mesh
from meshes.refine import mapped, positive, sweep, whole_number
from meshes.shapes.disk import circle
from meshes.shapes.sides import with_sides
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 1, 0), relative=(0, 1, 1), measure=3 * math.pi)


def annulus(resolution: int, *, inner: float = 1.0, outer: float = 2.0, layout: Layout = Structured()) -> Mesh:
    """inner < |x| < outer about the origin, with `resolution` rings; groups inner and outer.

    >>> annulus(2).points.shape
    (57, 2)
    """
    whole_number(resolution, "resolution")
    positive(inner, "inner")
    if not inner < outer < math.inf:
        raise ValueError(f"got inner={inner}, outer={outer}; expected inner below outer")
    step = (outer - inner) / resolution
    around = max(3, round(math.pi * (inner + outer) / step))
    if isinstance(layout, Delaunay):
        loops = [circle(max(3, round(2 * math.pi * r / step)), r) for r in (outer, inner)]
        mesh = scatter(loops, step, seed=layout.seed)
    else:
        mesh = arrange(orient(_polar(sweep(ring(around), resolution), inner, outer)).mesh, layout)
    radius = np.linalg.norm(mesh.points, axis=1)
    return with_sides(mesh, {"inner": radius < (inner + outer) / 2, "outer": radius > (inner + outer) / 2})


def ring(count: int) -> Mesh:
    """A closed chain of edges; the coordinate runs from 0 to 1."""
    number = np.arange(count)
    return Mesh(number[:, None] / count, np.stack([number, (number + 1) % count], axis=1))


def _polar(mesh: Mesh, inner: float, outer: float) -> Mesh:
    angle, share = 2 * np.pi * mesh.points[:, 0], mesh.points[:, 1]
    radius = inner + (outer - inner) * share
    return mapped(mesh, np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))
