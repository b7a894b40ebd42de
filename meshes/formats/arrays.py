"""Plain text arrays: one file of coordinates, one of vertex indices, one row a line."""

import re
from pathlib import Path

import numpy as np

from meshes.formats.raw import Raw, block, kind_name, lost_groups
from meshes.formats.text import by_line, numbers, whole, without_comments
from meshes.mesh import Mesh, indices

SUFFIXES = (".txt", ".dat", ".csv")
_POINTS = ("vertices", "vertex", "points", "nodes", "coords", "coordinates")
_CELLS = ("triangles", "faces", "cells", "elements", "tets", "tetrahedra", "edges", "simplices", "connectivity")


def read(place: np.ndarray, cells: bytes, *, one_based: bool) -> Raw:
    """A mesh from a table of points and the text of a file of cells."""
    index, line = _table(cells)
    if index.shape[1] not in (2, 3, 4):
        raise ValueError(f"got {index.shape[1]} indices a row; expected 2 (edges), 3 (triangles) or 4 (tetrahedra)")
    rows = whole(index, line, "index") - one_based
    if one_based and rows.size and rows.min() < 0:
        raise ValueError(f"got index {rows.min() + 1}; expected indices counted from 1")
    indices(rows, len(place), "cells")
    return Raw(place, [block(kind_name(rows.shape[1]), rows)], ["indices counted from 1"] if one_based else [])


def table(text: bytes, what: str) -> np.ndarray:
    """Rows of equally many numbers."""
    values, _ = _table(text)
    if not 1 <= values.shape[1] <= 16:
        raise ValueError(f"got {values.shape[1]} {what} a row; expected at most 16")
    return values


def _table(text: bytes) -> tuple[np.ndarray, np.ndarray]:
    found = numbers(without_comments(text).replace(b",", b" "), 1)
    lines, _, count = by_line(found.line)
    if not len(lines):
        raise ValueError("got no numbers; expected rows of numbers")
    if np.any(count != count[0]):
        at = np.flatnonzero(count != count[0])[0]
        raise ValueError(f"line {lines[at]}: got {count[at]} numbers; expected {count[0]}, as in the first row")
    return found.values.reshape(len(lines), -1), found.line.reshape(len(lines), -1)


def partner(path: Path) -> tuple[Path, Path]:
    """The files of points and of cells, from the name of either: X_vertices.txt goes with X_triangles.txt."""
    for own, other, swap in ((_CELLS, _POINTS, False), (_POINTS, _CELLS, True)):
        for word in own:
            if not re.search(word, path.name, re.IGNORECASE):
                continue
            for guess in other:
                mate = path.with_name(re.sub(word, guess, path.name, flags=re.IGNORECASE))
                if mate != path and mate.is_file():
                    return (path, mate) if swap else (mate, path)
    raise ValueError(
        f"got {path.name} alone; expected two text files, of points and of cells: name both, or call them like "
        "X_vertices.txt and X_triangles.txt"
    )


def write(mesh: Mesh) -> tuple[bytes, bytes, list[str]]:
    """The text of the files of points and of cells."""
    points = "".join(" ".join(map(repr, row)) + "\n" for row in mesh.points.tolist())
    cells = "".join(" ".join(map(repr, row)) + "\n" for row in mesh.cells.tolist())
    lost = lost_groups(mesh, "text") + (["text holds no edge lengths: left out"] if mesh.lengths is not None else [])
    return points.encode(), cells.encode(), lost
