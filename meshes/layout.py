"""Where a generator puts its points: on a regular pattern, jittered off it, or scattered and joined by Delaunay."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from scipy.spatial import Delaunay as Triangulation
from scipy.spatial import KDTree

from meshes.mesh import Mesh
from meshes.refine import jitter
from meshes.tables import boundary


@dataclasses.dataclass(frozen=True)
class Structured:
    """The regular pattern of the shape."""


@dataclasses.dataclass(frozen=True)
class Jittered:
    """The regular pattern, its vertices off the boundary moved by up to `amount` of their shortest edge."""

    amount: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.amount <= 0.5:
            raise ValueError(f"got amount={self.amount}; expected a share of an edge from 0 to 0.5")


@dataclasses.dataclass(frozen=True)
class Delaunay:
    """Points scattered in the domain, about as far apart as the boundary points are, and their Delaunay triangles."""

    seed: int = 0


Layout = Structured | Jittered | Delaunay


def arrange(mesh: Mesh, layout: Layout | None) -> Mesh:
    """A structured mesh in the layout asked for; ValueError for Delaunay, which only shapes of the plane offer."""
    if isinstance(layout, Delaunay):
        raise ValueError("got the layout Delaunay; expected Structured or Jittered for this shape")
    if not isinstance(layout, Structured | Jittered):
        raise ValueError(f"got the layout {layout!r}; expected Structured(), Jittered(...) or Delaunay(...)")
    return jitter(mesh, layout.amount, seed=layout.seed) if isinstance(layout, Jittered) else mesh


def scatter(loops: Sequence[Float64[np.ndarray, "_n 2"]], spacing: float, *, seed: int) -> Mesh:
    """Delaunay triangles of the plane domain inside the first loop and outside the others.

    Loops are closed polygons with vertices about `spacing` apart. Points inside come from a triangular pattern,
    jittered, at least 0.7 of the spacing from the loops: farther than the half-disc over any boundary edge, so that
    edge is Delaunay.
    """
    rng = np.random.default_rng(seed)
    low, high = loops[0].min(axis=0), loops[0].max(axis=0)
    rows = np.arange(low[1], high[1] + spacing, spacing * np.sqrt(3) / 2)
    columns = np.arange(low[0] - spacing, high[0] + spacing, spacing)
    x, y = np.meshgrid(columns, rows)
    x = x + (np.arange(len(rows)) % 2)[:, None] * spacing / 2
    pattern = np.stack([x.ravel(), y.ravel()], axis=1)
    pattern += rng.uniform(-0.15, 0.15, pattern.shape) * spacing
    fine = np.concatenate([_dense(loop) for loop in loops])
    far = KDTree(fine).query(pattern)[0] > 0.7 * spacing
    inside = pattern[far & _inside(pattern, loops)]
    points = np.concatenate([*loops, inside])
    cells = Triangulation(points).simplices.astype(np.int64)
    cells = cells[_inside(points[cells].mean(axis=1), loops)]
    (a, b), (c, d) = (points[cells[:, 1]] - points[cells[:, 0]]).T, (points[cells[:, 2]] - points[cells[:, 0]]).T
    cells[a * d < b * c] = cells[a * d < b * c][:, [0, 2, 1]]
    mesh = Mesh(points, cells)
    sides = sum(len(loop) for loop in loops)
    if len(boundary(mesh)) != sides or boundary(mesh).max() >= sides:
        raise ValueError(f"got loops that triangles of size {spacing:.3g} do not keep; expected a finer resolution")
    return mesh


def _dense(loop: np.ndarray) -> np.ndarray:
    """Eight points on each side of a polygon."""
    share = np.arange(8)[:, None, None] / 8
    return ((1 - share) * loop + share * np.roll(loop, -1, axis=0)).reshape(-1, 2)


def _inside(points: np.ndarray, loops: Sequence[np.ndarray]) -> np.ndarray:
    """Points inside an odd number of the polygons, by crossings of the ray to the right."""
    odd = np.zeros(len(points), bool)
    for loop in loops:
        for (x0, y0), (x1, y1) in zip(loop, np.roll(loop, -1, axis=0), strict=True):
            spans = (y0 > points[:, 1]) != (y1 > points[:, 1])
            if y0 != y1:
                odd ^= spans & (points[:, 0] < x0 + (points[:, 1] - y0) * (x1 - x0) / (y1 - y0))
    return odd
