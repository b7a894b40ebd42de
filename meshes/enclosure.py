"""Which closed surfaces are wound inside out, by winding numbers; the wall of a cavity is wound the other way."""

import numpy as np
from jaxtyping import Bool, Float64, Int

from meshes.manifold import Patches
from meshes.tables import Tables, cofacets


def inside_out(
    points: Float64[np.ndarray, "n 3"], made: Tables, found: Patches, turn: Int[np.ndarray, " m"]
) -> Bool[np.ndarray, " _p"]:
    """True for each closed orientable patch whose winding, `turn` times the ascending one, does not fit its nesting.

    A patch inside an even number of other closed patches must be wound outwards (positive signed volume), one inside an
    odd number inwards. Patches with a boundary, or that cannot be oriented, are never called inside out.
    """
    count = len(found.orientable)
    closed = found.orientable.copy()
    closed[found.label[np.any((cofacets(made) != 2)[made.facets[2]], axis=1)]] = False
    a, b, c = (points[made.simplices[2][:, i]] for i in range(3))
    volume = np.bincount(found.label, weights=turn * np.einsum("ij,ij->i", a, np.cross(b, c)), minlength=count)
    order = np.argsort(found.label, kind="stable")
    start = np.searchsorted(found.label[order], np.arange(count + 1))
    corner = points[made.simplices[2][order]]
    low = np.minimum.reduceat(corner.min(axis=1), start[:-1], axis=0)
    high = np.maximum.reduceat(corner.max(axis=1), start[:-1], axis=0)
    depth = np.zeros(count, np.int64)
    for patch in np.flatnonzero(closed):
        around = closed & np.all((low <= low[patch]) & (high >= high[patch]), axis=1)
        around[patch] = False
        inside = corner[start[patch] : start[patch + 1]].mean(axis=1)[:3]  # off surfaces that only touch in vertices
        for other in np.flatnonzero(around):
            triangles, wound = corner[start[other] : start[other + 1]], turn[order][start[other] : start[other + 1]]
            numbers = [_winding(triangles, wound, place) for place in inside]
            depth[patch] += abs(round(min(numbers, key=lambda w: abs(w - round(w)))))
    return closed & (np.where(depth % 2, -volume, volume) < 0)


def _winding(
    triangles: Float64[np.ndarray, "m 3 3"], turn: Int[np.ndarray, " m"], place: Float64[np.ndarray, " 3"]
) -> float:
    """Winding number of a closed surface about a place: solid angles over 4 pi; no whole number on the surface itself.

    Source: A. van Oosterom and J. Strackee, "The solid angle of a plane triangle" (1983).
    """
    a, b, c = (triangles - place).transpose(1, 0, 2)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    dots = [np.einsum("ij,ij->i", u, v) for u, v in ((b, c), (a, c), (a, b))]
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = la * lb * lc + dots[0] * la + dots[1] * lb + dots[2] * lc
    return float(np.sum(turn * np.arctan2(above, below)) / (2 * np.pi))
