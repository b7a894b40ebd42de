"""Changing a mesh: turn cells, merge points, drop what is broken; each says what it changed."""

import dataclasses
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Int64

from meshes.enclosure import inside_out
from meshes.geometry import flat_points, measures, scaled
from meshes.manifold import components, joints, patches
from meshes.mesh import Mesh
from meshes.tables import collapsed, complement, first_of, numbered, tables, with_cells


class Changed(NamedTuple):
    """A mesh and what was changed to get it: numbers of cells or vertices of the given mesh, by kind of change."""

    mesh: Mesh
    changes: dict[str, Int64[np.ndarray, " _n"]]


def orient(mesh: Mesh) -> Changed:
    """Turn cells: positive ones where they have the dimension of space, else consistent ones.

    Triangles in the plane become counter-clockwise and tetrahedra right-handed. Elsewhere each patch becomes consistent
    with as few cells turned as possible; a closed surface in space is wound outwards, the wall of a cavity inwards.
    Patches that cannot be oriented stay as they are. `changes["turned_cells"]` are the cells turned,
    `changes["not_orientable"]` those left alone for that reason. Raises ValueError where a cell repeats a vertex.

    >>> orient(Mesh([[0, 0], [1, 0], [0, 1]], [[0, 2, 1]])).mesh.cells.tolist()
    [[0, 1, 2]]
    """
    turn, stuck = _turns(mesh)
    cells = mesh.cells.copy()
    cells[turn, -2:] = cells[turn, -1:-3:-1]
    note = (f"turned {turn.sum()} of {len(cells)} cells",) if turn.any() else ()
    changed = dataclasses.replace(mesh, cells=cells, notes=mesh.notes + note)
    return Changed(changed, {"turned_cells": np.flatnonzero(turn), "not_orientable": np.flatnonzero(stuck)})


def _turns(mesh: Mesh) -> tuple[Bool[np.ndarray, " _m"], Bool[np.ndarray, " _m"]]:
    """Which cells to turn, and which belong to patches that cannot be oriented."""
    made = tables(mesh)
    found = patches(made, joints(made))
    flat = flat_points(scaled(mesh)[0])
    if mesh.lengths is None and flat.shape[1] == mesh.degree:
        return measures(flat, mesh.cells) < 0, np.zeros(len(mesh.cells), bool)
    stuck = ~found.orientable[found.label[made.cell]]
    want = found.turn[made.cell]
    votes = np.bincount(found.label[made.cell], weights=want * made.sign, minlength=len(found.orientable))
    side = np.where(votes < 0, -1, 1)
    if mesh.degree == 2 and mesh.points.shape[1] == 3 and mesh.lengths is None:
        turn = found.turn * side[found.label]
        side = np.where(inside_out(scaled(mesh)[0].points, made, found, turn), -side, side)
    return (want * side[found.label[made.cell]] != made.sign) & ~stuck, stuck


def weld(mesh: Mesh, *, tolerance: float = 0.0) -> Changed:
    """Merge points closer than `tolerance` times the diagonal of the box of the mesh; with 0, points at the same place.

    A chain of close points becomes one, at the place of its first. Cells and group rows that collapse are dropped.
    `changes["merged_vertices"]` and `changes["dropped_cells"]` say which. Raises ValueError for a negative or large
    (1e-2 or more) tolerance, for a mesh with edge lengths of its own, and where no cell would be left.

    >>> weld(Mesh([[0, 0], [1, 0], [0, 1], [0, 0]], [[0, 1, 2], [3, 2, 1]])).mesh.cells.tolist()
    [[0, 1, 2], [0, 2, 1]]
    """
    if not 0 <= tolerance < 1e-2:
        raise ValueError(
            f"got tolerance={tolerance}; expected a number from 0 up to 0.01, relative to the size of the mesh"
        )
    if mesh.lengths is not None:
        raise ValueError(
            "got a mesh with edge lengths of its own; welding goes by places of points, which mean nothing there"
        )
    target = _leaders(mesh, tolerance)
    merged = np.flatnonzero(target != np.arange(len(target)))
    welded = _renumbered(mesh, target, complement(len(target), merged))
    broken = collapsed(welded)
    if len(broken) == len(mesh.cells):
        raise ValueError(f"got a mesh of which no cell is left when points within {tolerance:g} of its size are merged")
    cells = np.delete(welded.cells, broken, axis=0)
    notes = mesh.notes
    if merged.size or broken.size:
        notes += (
            f"merged {len(target)} points to {len(welded.points)} (tolerance {tolerance:g} of the size), "
            f"dropped {len(broken)} cells that collapsed",
        )
    return Changed(
        dataclasses.replace(welded, cells=cells, notes=notes), {"merged_vertices": merged, "dropped_cells": broken}
    )


def _leaders(mesh: Mesh, tolerance: float) -> Int[np.ndarray, " _n"]:
    """For every point the first of the points it is merged with."""
    if tolerance:
        from scipy.spatial import KDTree

        points = scaled(mesh)[0].points
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        pairs = KDTree(points).query_pairs(tolerance * size, output_type="ndarray")
        count, label = components(len(points), *pairs.T)
        first = np.full(count, len(points))
        np.minimum.at(first, label, np.arange(len(points)))
        return first[label]
    first, number = places(mesh.points)
    return first[number]


def places(points: np.ndarray) -> tuple[Int[np.ndarray, " _p"], Int[np.ndarray, " _n"]]:
    """The first point at each distinct place, and the number of the place of every point; compared exactly."""
    return numbered(points + 0.0)  # + 0.0 makes -0.0 and 0.0 one place


def _renumbered(mesh: Mesh, target: Int[np.ndarray, " n"], kept: Int[np.ndarray, " _p"]) -> Mesh:
    """The mesh on the kept points, each vertex replaced by its target; group rows that collapse are dropped."""
    new = np.full(len(mesh.points), -1)
    new[kept] = np.arange(len(kept))
    groups = {}
    for name, rows in mesh.groups.items():
        mapped = new[target[rows]]
        ordered = np.sort(mapped, axis=1)
        groups[name] = mapped[(mapped >= 0).all(axis=1) & (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)]
    lost = [
        f"dropped {len(r) - len(groups[n])} rows of group {n!r}"
        for n, r in mesh.groups.items()
        if len(r) > len(groups[n])
    ]
    cells, notes = new[target[mesh.cells]], mesh.notes + tuple(lost)
    return dataclasses.replace(mesh, points=mesh.points[kept], cells=cells, groups=groups, notes=notes)


def repair(mesh: Mesh, *, tolerance: float = 0.0) -> Changed:
    """Weld, drop cells that repeat a vertex or another cell, drop vertices in no cell, orient; nothing else is touched.

    Flat cells and edges of three or more triangles stay: dropping them would open the mesh, and `check` names them. The
    changes are those of the steps, in numbers of the mesh given: `merged_vertices, dropped_cells, duplicate_cells,
    unreferenced_vertices, turned_cells`. Repairing twice changes nothing more.

    >>> found = repair(Mesh([[0, 0], [1, 0], [0, 1], [5, 5]], [[0, 2, 1], [0, 1, 1], [1, 2, 0]]))
    >>> found.mesh.cells.tolist(), found.changes["unreferenced_vertices"].tolist()
    ([[0, 1, 2]], [3])
    """
    step = weld(mesh, tolerance=tolerance) if mesh.lengths is None else _without_collapsed(mesh)
    cells = complement(len(mesh.cells), step.changes["dropped_cells"])
    changes = dict(step.changes)
    made = tables(step.mesh)
    first = np.sort(first_of(made.cell, len(made.simplices[-1])))
    changes["duplicate_cells"] = cells[complement(len(cells), first)]
    single = with_cells(step.mesh, first)
    used = np.unique(single.cells)
    points = complement(len(mesh.points), changes["merged_vertices"])
    changes["unreferenced_vertices"] = points[complement(len(points), used)]
    compact = _renumbered(single, np.arange(len(single.points)), used)
    turned = orient(compact)
    changes["turned_cells"] = cells[first][turned.changes["turned_cells"]]
    note = tuple(
        f"dropped {len(changes[name])} {name.replace('_', ' ')}"
        for name in ("duplicate_cells", "unreferenced_vertices")
        if len(changes[name])
    )
    return Changed(dataclasses.replace(turned.mesh, notes=turned.mesh.notes + note), changes)


def _without_collapsed(mesh: Mesh) -> Changed:
    """The mesh without cells that repeat a vertex."""
    broken = collapsed(mesh)
    if len(broken) == len(mesh.cells):
        raise ValueError("got a mesh whose every cell repeats a vertex; nothing is left to repair")
    sound = with_cells(mesh, complement(len(mesh.cells), broken))
    return Changed(sound, {"merged_vertices": np.zeros(0, np.int64), "dropped_cells": broken})
