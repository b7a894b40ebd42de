"""OFF: a keyword, counts, coordinates, faces."""

import re

import numpy as np

from meshes.formats.raw import Raw, block, lost_groups, only_triangles, spatial
from meshes.formats.text import by_line, numbers, ragged, show, whole, without_comments
from meshes.mesh import Mesh

SUFFIXES = (".off",)
_HEAD = re.compile(rb"\s*(ST)?(C)?(N)?(4)?(n)?OFF", re.ASCII)


def read(data: bytes) -> Raw:
    """Points and polygons of an OFF file; comments, blank lines and a keyword glued to the counts are fine.

    Colours after a face, and normals, colours or texture coordinates after a vertex (NOFF, COFF, STOFF), are left out,
    and the notes say so.
    """
    text = without_comments(data)
    head = _HEAD.match(text)
    if not head:
        raise ValueError(f"line 1: got {show(text.lstrip()[:20])}; expected the keyword OFF")
    if head[4] or head[5]:
        raise ValueError(
            "line 1: got an OFF file of another dimension (4OFF, nOFF); expected points in three dimensions"
        )
    first = text.count(b"\n", 0, head.end()) + 1
    if text[head.end() :].lstrip()[:6].upper() == b"BINARY":
        raise ValueError("line 1: got a binary OFF file; expected text (write it as .ply or .stl for binary)")
    found = numbers(text[head.end() :], first)
    if len(found.values) < 2:
        raise ValueError(
            f"line {first}: got the keyword OFF and no counts; expected a line of vertex, face and edge counts"
        )
    on_line = int(np.sum(found.line == found.line[0]))
    if on_line not in (2, 3):
        raise ValueError(f"line {found.line[0]}: got {on_line} counts; expected vertices, faces and edges")
    vertices, faces = (int(c) for c in whole(found.values[:2], found.line[:2], "count"))
    if vertices < 1 or faces < 0:
        raise ValueError(f"line {found.line[0]}: got {vertices} vertices, {faces} faces; expected at least one vertex")
    width = 3 + 3 * bool(head[3]) + 4 * bool(head[2]) + 2 * bool(head[1])
    left = len(found.values) - on_line
    if vertices * 3 > left or faces > left:
        raise ValueError(
            f"got {left} numbers; expected {vertices} vertices and {faces} faces, as line {found.line[0]} says"
        )
    rows = found.line[on_line:]
    _, start, tokens = by_line(rows)
    if len(start) < vertices:
        raise ValueError(f"got {len(start)} lines; expected {vertices} vertices, as line {found.line[0]} says")
    start, tokens = start[:vertices] + on_line, tokens[:vertices]
    if np.any(bad := (tokens < 3) | ((width == 3) & (tokens != 3) & (tokens != tokens[0]))):
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"line {found.line[start[at]]}: got {tokens[at]} coordinates; expected 3")
    points = found.values[start[:, None] + np.arange(3)]
    end = int(start[-1] + tokens[-1])
    if len(np.unique(found.line[end:])) > faces:
        raise ValueError(f"got more than {faces} faces; expected as many as line {found.line[0]} says")
    polygons, extra = ragged(type(found)(found.values[end:], found.line[end:]), faces, "faces")
    notes = []
    if extra:
        notes.append(f"{extra} numbers after the faces (colours) left out")
    if tokens[0] > 3:
        notes.append(f"{tokens[0] - 3} numbers after each vertex (normals, colours) left out")
    return Raw(points, [block("polygon", cells, rank) for cells, rank in polygons.values()], notes)


def write(mesh: Mesh) -> tuple[bytes, list[str]]:
    """An OFF file of triangles."""
    only_triangles(mesh, "OFF")
    points = "\n".join(" ".join(map(repr, row)) for row in spatial(mesh).tolist())
    cells = "\n".join(f"3 {a} {b} {c}" for a, b, c in mesh.cells.tolist())
    text = f"OFF\n{len(mesh.points)} {len(mesh.cells)} 0\n{points}\n{cells}\n"
    return text.encode(), lost_groups(mesh, "OFF")
