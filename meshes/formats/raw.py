"""What a file holds before it is a mesh: points and blocks of elements of one kind, with the groups they are in."""

import dataclasses
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from meshes.mesh import NAMES, PLURALS, Mesh, indices
from meshes.tables import complement

LINEAR = {"vertex": 1, "edge": 2, "triangle": 3, "tetrahedron": 4}


class Block(NamedTuple):
    """Elements of one kind: a name of `LINEAR`, or "polygon" of any number of corners; rows of vertex indices.

    `rank` orders the elements of all blocks as the file lists them; `groups` maps a name to element numbers of this
    block.
    """

    kind: str
    cells: Int64[np.ndarray, "_m _c"]
    rank: Int64[np.ndarray, " _m"]
    groups: dict[str, Int64[np.ndarray, " _g"]]


class Raw(NamedTuple):
    """Points, blocks and what the reader has to say about them."""

    points: Float64[np.ndarray, "_n _d"]
    blocks: list[Block]
    notes: list[str]


def assemble(raw: Raw, dimension: int | None) -> Mesh:
    """The mesh of a raw file.

    Cells are the elements of the highest degree, polygons cut into triangles; elements of lower degree become groups,
    and those in no group the group "none". With `dimension` None, last coordinates that are
    all zero are left out, down to the degree of the cells.
    Raises ValueError where there are no elements of degree 1 or more, or coordinates that `dimension` cannot hold.
    """
    notes = list(raw.notes)
    blocks = [_triangles(raw.points, block, notes) if block.kind == "polygon" else block for block in raw.blocks]
    blocks = [block for block in blocks if len(block.cells)]
    if not any(LINEAR[block.kind] > 1 for block in blocks):
        raise ValueError(f"got {len(raw.points)} points and no cells; expected edges, triangles or tetrahedra")
    top = max(LINEAR[block.kind] for block in blocks)
    points = _dimension(raw.points, dimension, top, notes)
    cells, groups = np.zeros((0, top), np.int64), {}
    for width in sorted({LINEAR[block.kind] for block in blocks}, reverse=True):
        rows, members = _joined([block for block in blocks if LINEAR[block.kind] == width])
        named = {name: rows[numbers] for name, numbers in members.items()}
        grouped = np.concatenate([np.zeros(0, np.int64), *members.values()])
        loose = complement(len(rows), grouped)
        if width == top:
            cells = rows
        if len(loose) and (width < top or named):
            rest = "none" if "none" not in named else "none (loose)"
            named[rest] = rows[loose]
            notes.append(f"{len(loose)} {PLURALS[width - 1]} in no group: they are the group {rest!r}")
        for name, members_ in named.items():
            free = name if name not in groups else f"{name} ({PLURALS[width - 1]})"
            groups[free] = members_
    return Mesh(points, cells, groups, notes=tuple(notes))


def _joined(blocks: list[Block]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Elements of blocks of one degree in the order of the file, and the groups as their numbers."""
    rows = np.concatenate([block.cells for block in blocks])
    order = np.argsort(np.concatenate([block.rank for block in blocks]), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    members: dict[str, list[np.ndarray]] = {}
    start = 0
    for block in blocks:
        for name, numbers in block.groups.items():
            members.setdefault(name, []).append(place[start + numbers])
        start += len(block.cells)
    return rows[order], {name: np.sort(np.concatenate(numbers)) for name, numbers in members.items()}


def _dimension(points: np.ndarray, dimension: int | None, top: int, notes: list[str]) -> np.ndarray:
    """Points with the number of coordinates asked for."""
    width = points.shape[1]
    if dimension is None:
        kept = width
        while kept > top - 1 and not np.any(points[:, kept - 1]):
            kept -= 1
        if kept < width:
            notes.append(f"coordinates after the first {kept} are all zero: left out")
        return points[:, :kept]
    if dimension < width:
        if np.any(points[:, dimension:]):
            raise ValueError(f"got points with {width} coordinates that are not zero; expected {dimension} dimensions")
        return points[:, :dimension]
    return np.pad(points, ((0, 0), (0, dimension - width)))


def _triangles(points: np.ndarray, block: Block, notes: list[str]) -> Block:
    """Polygons cut into triangles about their first corner; quadrilaterals along the other diagonal if that folds."""
    cells, corners = block.cells, block.cells.shape[1]
    if corners < 3:
        raise ValueError(f"got a polygon of {corners} corners; expected at least 3")
    if corners == 3:
        return block._replace(kind="triangle")
    indices(cells, len(points), "cells")
    fan = np.stack([cells[:, [0, i, i + 1]] for i in range(1, corners - 1)], axis=1)
    folds = _folds(points, fan)
    if corners == 4:
        other = np.stack([cells[:, [1, 2, 3]], cells[:, [1, 3, 0]]], axis=1)
        swap = folds & ~_folds(points, other)
        fan[swap] = other[swap]
        folds &= ~swap
    pieces = corners - 2
    name = "quadrilaterals" if corners == 4 else f"polygons of {corners} corners"
    notes.append(f"cut {len(cells)} {name} into {len(cells) * pieces} triangles")
    if folds.any():
        notes.append(f"{folds.sum()} of the {name} are not convex: their triangles overlap, look at them")
    own = {n: (rows[:, None] * pieces + np.arange(pieces)).ravel() for n, rows in block.groups.items()}
    return Block("triangle", fan.reshape(-1, 3), np.repeat(block.rank, pieces), own)


def _folds(points: np.ndarray, fan: np.ndarray) -> np.ndarray:
    """Whether triangles of one polygon face opposite ways."""
    spatial = np.pad(points, ((0, 0), (0, max(0, 3 - points.shape[1]))))
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(spatial).max(initial=0) or 1.0
        a, b, c = (spatial[fan[..., i]] / size for i in range(3))
        normal = np.cross(b - a, c - a)
    return np.any(np.einsum("mtd,md->mt", normal, normal.sum(axis=1)) < 0, axis=1)


def spatial(mesh: Mesh) -> Float64[np.ndarray, "_n 3"]:
    """Points with three coordinates, padded with zeros. ValueError for more than three, or a metric by edge lengths."""
    if mesh.points.shape[1] > 3:
        raise ValueError(
            f"got points with {mesh.points.shape[1]} coordinates; expected at most 3 for a file of this kind"
        )
    if mesh.lengths is not None:
        raise ValueError("got a mesh measured by edge lengths; files of this kind hold points only")
    return np.pad(mesh.points, ((0, 0), (0, 3 - mesh.points.shape[1])))


def only_triangles(mesh: Mesh, kind: str) -> None:
    """ValueError unless the mesh is one of triangles."""
    if mesh.degree != 2:
        raise ValueError(f"got {PLURALS[mesh.degree]}; expected triangles for {kind} (write .msh or .vtu)")


def lost_groups(mesh: Mesh, kind: str) -> list[str]:
    """What to say of groups that a file of this kind cannot hold."""
    return [f"{kind} holds no groups: left out {', '.join(mesh.groups)}"] if mesh.groups else []


def block(kind: str, cells: np.ndarray, rank: np.ndarray | None = None) -> Block:
    """A block without groups."""
    return Block(kind, cells, np.arange(len(cells)) if rank is None else rank, {})


def kind_name(width: int) -> str:
    """Name of a simplex of this many vertices."""
    return NAMES[width - 1]


def with_notes(mesh: Mesh, notes: tuple[str, ...]) -> Mesh:
    """The mesh with more notes."""
    return dataclasses.replace(mesh, notes=mesh.notes + notes)
