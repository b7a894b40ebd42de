"""The mesh: points, cells and named groups; immutable, checked once when it is made."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy.typing import ArrayLike

NAMES = ("vertex", "edge", "triangle", "tetrahedron")
PLURALS = ("vertices", "edges", "triangles", "tetrahedra")


@dataclasses.dataclass(frozen=True, eq=False, init=False)
class Mesh:
    """A simplicial mesh: n points in d dimensions and m cells, all edges (k = 1), triangles (2) or tetrahedra (3).

    `groups` maps a name to simplices of any one degree, as rows of vertex indices: the sides of a domain, a material.
    `lengths`, where given, are the lengths of the edges in the order of `meshes.tables(mesh).simplices[1]`; the metric
    is then theirs, and points are only places to draw at (a flat torus has no embedding in space). `notes` tell what
    reading or repairing did. Lengths are non-dimensional.

    Raises ValueError for wrong shapes, indices out of range, coordinates that are not finite, and a mesh without cells.
    A cell may repeat a vertex or be listed twice: `meshes.check` finds that, `meshes.repair` mends it.

    >>> Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]).cells.shape
    (1, 3)
    """

    points: Float64[np.ndarray, "_n _d"]
    cells: Int64[np.ndarray, "_m _k"]
    groups: Mapping[str, Int64[np.ndarray, "_g _j"]]
    lengths: Float64[np.ndarray, " _e"] | None
    notes: tuple[str, ...]

    def __init__(
        self,
        points: ArrayLike,
        cells: ArrayLike,
        groups: Mapping[str, ArrayLike] | None = None,
        lengths: ArrayLike | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        points = _points(points)
        cells = indices(cells, len(points), "cells")
        if not len(cells):
            raise ValueError("got no cells; expected at least one edge, triangle or tetrahedron")
        if cells.shape[1] not in (2, 3, 4):
            raise ValueError(
                f"got cells of {cells.shape[1]} vertices; expected 2 (edges), 3 (triangles) or 4 (tetrahedra)"
            )
        if lengths is None and points.shape[1] < cells.shape[1] - 1:
            raise ValueError(
                f"got {PLURALS[cells.shape[1] - 1]} with points of {points.shape[1]} coordinates; expected at least "
                f"{cells.shape[1] - 1}, or edge lengths"
            )
        named = {str(name): indices(rows, len(points), f"group {name!r}") for name, rows in (groups or {}).items()}
        for name, rows in named.items():
            if rows.shape[1] > cells.shape[1]:
                raise ValueError(
                    f"got group {name!r} of {rows.shape[1]} vertices a row; expected at most {cells.shape[1]}"
                )
        if lengths is not None and len(np.shape(lengths)) == 1:
            _check_count(cells, np.shape(lengths)[0])
        set_ = object.__setattr__
        set_(self, "points", points)
        set_(self, "cells", cells)
        set_(self, "groups", MappingProxyType(named))
        set_(self, "lengths", None if lengths is None else _lengths(lengths))
        set_(self, "notes", tuple(notes))

    def __reduce__(self) -> tuple[type["Mesh"], tuple]:
        return Mesh, (self.points, self.cells, dict(self.groups), self.lengths, self.notes)

    @property
    def degree(self) -> int:
        """Degree k of the cells: 1 edges, 2 triangles, 3 tetrahedra."""
        return self.cells.shape[1] - 1


def edge_keys(cells: np.ndarray) -> np.ndarray:
    """One number for each distinct edge of cells, ascending, which is the order of edges in tables."""
    corners = [(i, j) for i in range(cells.shape[1]) for j in range(i)]
    low, high = np.sort(np.concatenate([cells[:, list(pair)] for pair in corners]), axis=1).T
    key = np.sort((low * (2**31) + high)[low != high])
    return key[np.diff(key, prepend=-1) > 0]


def _check_count(cells: np.ndarray, lengths: int) -> None:
    """ValueError unless there is one length for each edge of the cells."""
    edges = len(edge_keys(cells))
    if lengths != edges:
        raise ValueError(f"got {lengths} edge lengths; expected {edges}, one for each edge of the cells")


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _points(value: Any) -> np.ndarray:
    points = np.array(value, dtype=np.float64, order="C")
    if points.ndim != 2 or not points.shape[1]:
        raise ValueError(f"got points of shape {points.shape}; expected (n, d), one row a point")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise ValueError(
            f"got point {bad[0]} at {points[bad[0]].tolist()}; expected finite coordinates ({bad.size} such points)"
        )
    return _frozen(points)


def _lengths(value: Any) -> np.ndarray:
    lengths = np.array(value, dtype=np.float64)
    if lengths.ndim != 1 or not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise ValueError("got lengths that are not one positive finite number an edge")
    return _frozen(lengths)


def indices(value: Any, points: int, what: str) -> np.ndarray:
    """Rows of vertex indices below `points`, as a read-only int64 copy; ValueError where they are not that."""
    given = np.asarray(value)
    if given.ndim != 2:
        raise ValueError(f"got {what} of shape {given.shape}; expected (m, k + 1), one row of vertex indices a cell")
    if given.dtype.kind not in "iu" and given.size:
        raise ValueError(f"got {what} of dtype {given.dtype}; expected integers")
    rows = np.array(given, dtype=np.int64, order="C")
    if rows.size and (rows.max() >= points or rows.min() < 0):
        bad = int(np.flatnonzero(((rows >= points) | (rows < 0)).any(axis=1))[0])
        index = int(rows.max() if rows.max() >= points else rows.min())
        hint = ": counted from 1?" if index == points and rows.min() >= 1 else ""
        raise ValueError(
            f"got index {index}, {points} vertices{hint or ';'} expected indices from 0 to {points - 1} in {what} "
            f"(first bad row: {bad})"
        )
    return _frozen(rows)
