"""The disk with holes."""

import math

import numpy as np

from meshes.layout import Delaunay, Jittered, Layout, Structured, scatter
from meshes.mesh import Mesh
from meshes.refine import whole_number
from meshes.shapes.disk import circle
from meshes.shapes.sides import with_sides
from meshes.shapes.topology import Topology

TOPOLOGY = Topology(betti=(1, 3, 0), relative=(0, 3, 1), measure=math.pi * (1 - 3 * 0.15**2))
_AT = 0.55  # radius of the circle that the holes lie on


def disk_with_holes(
    resolution: int, *, holes: int = 3, radius: float | None = None, layout: Layout = Delaunay()
) -> Mesh:
    """The unit disk without `holes` round holes spaced evenly on |x| = 0.55, `resolution` edges a unit.

    The holes have radius 0.15, or less where many must fit. Groups outer and hole0, hole1, ... The points are scattered
    (Delaunay is the only layout); the resolution must give a hole and a gap some edges.

    >>> import meshes
    >>> meshes.betti(disk_with_holes(12, holes=2))
    (1, 2, 0)
    """
    whole_number(resolution, "resolution")
    whole_number(holes, "holes", 0)
    if isinstance(layout, Structured | Jittered):
        raise ValueError(f"got the layout {layout}; expected Delaunay for a disk with holes")
    size = min(0.15, 0.6 * _AT * math.sin(math.pi / holes) if holes > 1 else 0.15) if radius is None else radius
    room = min(1 - _AT, _AT * math.sin(math.pi / holes) if holes > 1 else 1.0)
    if not 0 < size < room:
        raise ValueError(f"got radius={size}; expected a positive one below {room:.3g}, where {holes} holes fit")
    if size * resolution < 1:
        raise ValueError(
            f"got resolution={resolution}; expected at least {math.ceil(1 / size)} for holes of radius {size:.3g}"
        )
    loops = [circle(round(2 * math.pi * resolution), 1.0)]
    around = max(6, round(2 * math.pi * size * resolution))
    loops += [circle(around, size) + place for place in circle(holes, _AT)] if holes else []
    mesh = scatter(loops, 1 / resolution, seed=layout.seed)
    ends = np.cumsum([0, *(len(loop) for loop in loops)])
    number = np.arange(len(mesh.points))
    names = ["outer", *(f"hole{i}" for i in range(holes))]
    return with_sides(
        mesh, {n: (number >= a) & (number < b) for n, a, b in zip(names, ends[:-1], ends[1:], strict=True)}
    )
