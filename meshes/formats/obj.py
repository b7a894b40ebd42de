"""OBJ: vertices, faces and lines, counted from 1 or backwards from the last."""

import re

import numpy as np

from meshes.formats.raw import Block, Raw, only_triangles, spatial
from meshes.formats.text import by_line, numbers, show, without_comments
from meshes.mesh import Mesh

SUFFIXES = (".obj",)
_WORD = re.compile(r"[^\s#]*[^\s#\\]")  # a group name that a g line can hold
_REST = re.compile(rb"/[^\s]*")
_IGNORED = {b"vt", b"vn", b"vp", b"s", b"mtllib", b"usemtl", b"o", b"mg", b"lod", b"shadow_obj", b"trace_obj"}


def read(data: bytes) -> Raw:
    """Points, polygons and lines of an OBJ file; `g` names become groups, texture and normal indices are left out."""
    text = without_comments(data).replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    lines = text.split(b"\n")
    keys = [line.split(None, 1)[0] if line and not line.isspace() else b"" for line in lines]
    at = {key: np.array([i for i, k in enumerate(keys) if k == key], np.int64) for key in set(keys)}
    if unknown := set(at) - _IGNORED - {b"", b"v", b"f", b"fo", b"l", b"p", b"g"}:
        key = min(unknown, key=lambda k: at[k][0])
        raise ValueError(
            f"line {at[key][0] + 1}: got {show(key)}; expected v, f, l, g or another keyword of polygonal OBJ files"
        )
    vertex = at.get(b"v", np.zeros(0, np.int64))
    points, notes = _points(lines, vertex)
    blocks, rank = [], 0
    for key, kind in ((b"f", "polygon"), (b"fo", "polygon"), (b"l", "edge"), (b"p", "vertex")):
        if key in at:
            blocks += _elements(lines, at[key], vertex, kind, _groups(lines, at))
    if ignored := sorted(key.decode() for key in at if key in _IGNORED and key not in (b"s", b"o")):
        notes.append(f"left out: {', '.join(ignored)}")
    del rank
    return Raw(points, blocks, notes)


def _points(lines: list[bytes], vertex: np.ndarray) -> tuple[np.ndarray, list[str]]:
    found = _table(lines, vertex, rb"v")
    if not len(vertex):
        return np.zeros((0, 3)), []
    _, start, tokens = by_line(found.line)
    if len(start) < len(vertex) or np.any(tokens < 3):
        full = np.zeros(len(lines) + 1, np.int64)
        np.add.at(full, found.line, 1)
        at = vertex[full[vertex + 1] < 3][0]
        raise ValueError(f"line {at + 1}: got {full[at + 1]} coordinates; expected 3")
    extra = int(tokens.max()) - 3
    return found.values[start[:, None] + np.arange(3)], [
        f"{extra} numbers after vertices (weights, colours) left out"
    ] if extra else []


def _table(lines: list[bytes], at: np.ndarray, key: bytes):
    """Numbers of the chosen lines, without their keyword, with the right line numbers."""
    bodies = [lines[i].split(None, 1) for i in at.tolist()]
    found = numbers(b"\n".join(b[1] if len(b) > 1 else b"" for b in bodies), 1) if bodies else numbers(b"", 1)
    return found._replace(line=at[found.line - 1] + 1)


def _elements(
    lines: list[bytes], at: np.ndarray, vertex: np.ndarray, kind: str, groups: list[tuple[int, list[str]]]
) -> list[Block]:
    """Blocks of the elements on the given lines, one block for each number of corners."""
    bodies = [
        _REST.sub(b"", lines[i].split(None, 1)[1] if len(lines[i].split(None, 1)) > 1 else b"") for i in at.tolist()
    ]
    try:
        found = numbers(b"\n".join(bodies), 1)
    except ValueError as error:
        word, _, rest = str(error).removeprefix("line ").partition(":")
        raise ValueError(f"line {at[int(word) - 1] + 1}:{rest}") from None
    tokens = np.bincount(found.line - 1, minlength=len(at))
    least = {"polygon": 3, "edge": 2, "vertex": 1}[kind]
    if np.any(tokens < least):
        bad = np.flatnonzero(tokens < least)[0]
        raise ValueError(f"line {at[bad] + 1}: got an element of {tokens[bad]} corners; expected at least {least}")
    index = found.values
    line = at[found.line - 1]
    if np.any(bad := (index != np.floor(index)) | (index == 0) | ~(np.abs(index) < 2.0**53)):
        place = np.flatnonzero(bad)[0]
        raise ValueError(
            f"line {line[place] + 1}: got index {index[place]:g}; expected whole numbers from 1, or negative ones"
        )
    so_far = np.searchsorted(vertex, line)
    index = np.where(index < 0, so_far + index, index - 1).astype(np.int64)
    if np.any(bad := (index < 0) | (index >= len(vertex))):
        place = np.flatnonzero(bad)[0]
        raise ValueError(
            f"line {line[place] + 1}: got index {found.values[place]:g}; expected one of the {len(vertex)} vertices, "
            "counted from 1"
        )
    start = np.cumsum(tokens) - tokens
    blocks = []
    for size in np.unique(tokens):
        member = np.flatnonzero(tokens == size)
        cells = index[start[member, None] + np.arange(size)]
        rank = at[member]
        if kind == "edge" and size > 2:
            cells = np.stack([cells[:, :-1], cells[:, 1:]], axis=2).reshape(-1, 2)
            rank, member = np.repeat(rank, size - 1), np.repeat(member, size - 1)
        elif kind == "vertex" and size > 1:
            cells, rank, member = cells.reshape(-1, 1), np.repeat(rank, size), np.repeat(member, size)
        blocks.append(Block(kind, cells, rank, _members(groups, at[member])))
    return blocks


def _groups(lines: list[bytes], at: dict[bytes, np.ndarray]) -> list[tuple[int, list[str]]]:
    """Lines with g statements and the names on them."""
    return [(int(i), [n.decode("utf-8", "backslashreplace") for n in lines[i].split()[1:]]) for i in at.get(b"g", [])]


def _members(groups: list[tuple[int, list[str]]], line: np.ndarray) -> dict[str, np.ndarray]:
    """Elements, by their lines, of each group; those before the first g statement are in none."""
    if not groups:
        return {}
    state = np.searchsorted([i for i, _ in groups], line) - 1
    members: dict[str, list[np.ndarray]] = {}
    for number, (_, names) in enumerate(groups):
        for name in names:
            members.setdefault(name, []).append(np.flatnonzero(state == number))
    found = {name: np.unique(np.concatenate(parts)) for name, parts in members.items()}
    return {name: numbers for name, numbers in found.items() if len(numbers)}


def write(mesh: Mesh) -> tuple[bytes, list[str]]:
    """An OBJ file of triangles, with a `g` line for the groups of triangles."""
    only_triangles(mesh, "OBJ")
    names: list[list[str]] = [[] for _ in range(len(mesh.cells))]
    notes = []
    for name, rows in mesh.groups.items():
        where = {tuple(sorted(c)): i for i, c in enumerate(mesh.cells.tolist())} if rows.shape[1] == 3 else None
        if where is None or not all(tuple(sorted(r)) in where for r in rows.tolist()) or not _WORD.fullmatch(name):
            notes.append(f"OBJ holds groups of its triangles under one word: left out {name!r}")
            continue
        for row in rows.tolist():
            names[where[tuple(sorted(row))]].append(name)
    out = ["v " + " ".join(map(repr, row)) for row in spatial(mesh).tolist()]
    last: list[str] = []
    for row, own in zip((mesh.cells + 1).tolist(), names, strict=True):
        if own != last:
            out.append("g " + " ".join(own))
            last = own
        out.append("f " + " ".join(map(str, row)))
    return ("\n".join(out) + "\n").encode(), notes
