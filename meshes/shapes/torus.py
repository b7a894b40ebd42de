"""The torus."""

import math

import numpy as np

from meshes.change import orient
from meshes.layout import Delaunay, Jittered, Layout, Structured
from meshes.mesh import Mesh
from meshes.refine import jitter, mapped, sweep, whole_number
from meshes.shapes.annulus import ring
from meshes.shapes.solid_torus import about_axis, radii
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 2, 1), relative=(1, 2, 1), measure=4 * math.pi**2 * 0.4)


def torus(
    resolution: int, *, around: int | None = None, major: float = 1.0, minor: float = 0.4, layout: Layout = Structured()
) -> Mesh:
    """The torus about the z axis: `around` sections (as long as wide by default) of `resolution` points.

    A jittered torus keeps its points on the torus.

    >>> torus(8, around=16).cells.shape
    (256, 3)
    """
    whole_number(resolution, "resolution", 3)
    radii(major, minor)
    sections = max(3, round(resolution * major / minor)) if around is None else around
    whole_number(sections, "around", 3)
    if isinstance(layout, Delaunay):
        raise ValueError("got the layout Delaunay; expected Structured or Jittered for this shape")
    swept = sweep(ring(resolution), sections, np.arange(resolution))
    angles = 2 * np.pi * swept.points[:, :1]
    section = minor * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    mesh = orient(mapped(swept, about_axis(np.concatenate([section, swept.points[:, 1:]], axis=1), major))).mesh
    if isinstance(layout, Jittered):
        moved = jitter(mesh, layout.amount, seed=layout.seed).points
        core = moved * np.array([1, 1, 0])
        core *= major / np.linalg.norm(core, axis=1, keepdims=True)
        outward = moved - core
        mesh = mapped(mesh, core + minor * outward / np.linalg.norm(outward, axis=1, keepdims=True))
    return mesh
