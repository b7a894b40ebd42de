"""PLY: elements with any properties, text or binary of either byte order."""

from typing import NamedTuple

import numpy as np

from meshes.formats.raw import Block, Raw, block, lost_groups, only_triangles, spatial
from meshes.formats.text import by_line, numbers, show
from meshes.mesh import Mesh
from meshes.tables import ranges

SUFFIXES = (".ply",)
_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_ORDER = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


class Property(NamedTuple):
    """A property: its type, and the type of its count where it is a list."""

    name: str
    type: str
    count: str | None


class Element(NamedTuple):
    """An element of the header."""

    name: str
    count: int
    properties: list[Property]


def read(data: bytes) -> Raw:
    """Points, faces and edges of a PLY file; other properties are left out, and the notes say which."""
    order, elements, body, line = _header(data)
    columns = _text(data[body:], elements, line) if not order else _binary(data, body, order, elements)
    return _raw(elements, columns)


def _header(data: bytes) -> tuple[str, list[Element], int, int]:
    """Byte order, elements, where the body begins, and its first line."""
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise ValueError("line 1: got no PLY header; expected 'ply' ... 'end_header'")
    stop = data.find(b"\n", end)
    stop = len(data) if stop < 0 else stop
    lines = data[:end].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    order, elements = None, []
    for number, text in enumerate(lines[1:], start=2):
        match text.decode("ascii", "backslashreplace").split():
            case [] | ["comment" | "obj_info", *_]:
                pass
            case ["format", kind, "1.0"] if kind in _ORDER:
                order = _ORDER[kind]
            case ["element", name, _] if name in [e.name for e in elements]:
                raise ValueError(f"line {number}: got the element {name} twice; expected each once")
            case ["property", *_, name] if elements and name in [p.name for p in elements[-1].properties]:
                raise ValueError(f"line {number}: got the property {name} twice; expected each once")
            case ["element", name, count] if count.isdigit() and len(count) < 19:
                elements.append(Element(name, int(count), []))
            case ["property", "list", count, kind, name] if elements and count in _TYPES and kind in _TYPES:
                elements[-1].properties.append(Property(name, _TYPES[kind], _TYPES[count]))
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append(Property(name, _TYPES[kind], None))
            case _:
                raise ValueError(
                    f"line {number}: got {show(text)}; expected format, element or property of the PLY header"
                )
    if order is None:
        raise ValueError(
            "got a PLY header without a known format; expected ascii, binary_little_endian or binary_big_endian 1.0"
        )
    return order, elements, stop + 1, len(lines) + 1


Columns = dict[tuple[str, str], tuple[np.ndarray, np.ndarray | None]]  # values, and list sizes where they are lists


def _text(body: bytes, elements: list[Element], line: int) -> Columns:
    """Columns of a text body: one row a line."""
    found = numbers(body, line)
    lines, start, tokens = by_line(found.line)
    columns: Columns = {}
    row = 0
    for element in elements:
        if element.properties and len(lines) - row < element.count:
            raise ValueError(
                f"got {len(lines) - row} rows of {element.name}; expected {element.count}, as the header says"
            )
        if not element.properties:
            continue
        at, end = start[row : row + element.count], (start + tokens)[row : row + element.count]
        where = lines[row : row + element.count]
        row += element.count
        for p in element.properties:
            size = np.ones(len(at), np.int64)
            short = at + size > end
            if p.count is not None and not short.any():
                size = found.values[at]
                bad = ~((size >= 0) & (size <= end - at) & (size == np.floor(size)))
                if bad.any():
                    raise ValueError(
                        f"line {where[bad][0]}: got {p.name} of size {size[bad][0]:g}; expected what the line holds"
                    )
                at, size = at + 1, size.astype(np.int64)
                short = at + size > end
            if short.any():
                raise ValueError(f"line {where[short][0]}: got too few numbers for {element.name}; expected {p.name}")
            columns[element.name, p.name] = (found.values[ranges(at, size)], size if p.count is not None else None)
            at = at + size
        if np.any(more := at < end):
            raise ValueError(f"line {where[more][0]}: got more numbers than {element.name} has properties")
    if row < len(lines):
        raise ValueError(f"line {lines[row]}: got rows after the last element; expected none, as the header says")
    return columns


def _binary(data: bytes, at: int, order: str, elements: list[Element]) -> Columns:
    """Columns of a binary body."""
    columns: Columns = {}
    for element in elements:
        least = sum(np.dtype(p.count or p.type).itemsize for p in element.properties)
        if element.count * least > len(data) - at:
            raise ValueError(
                f"got {len(data) - at} bytes for {element.count} of {element.name}; "
                f"expected at least {element.count * least}"
            )
        at = _rows(data, at, order, element, columns) if element.properties else at
    if data[at:].strip():
        raise ValueError(f"got {len(data) - at} bytes after the last element; expected none, as the header says")
    return columns


def _rows(data: bytes, at: int, order: str, element: Element, columns: Columns) -> int:
    """Read the rows of one element; as one array where every list has the size that it has in the first row."""
    sizes = _first_sizes(data, at, order, element)
    fields = []
    for number, p in enumerate(element.properties):
        if p.count is not None:
            fields.append((f"count{number}", order + p.count))
        fields.append((f"value{number}", order + p.type, (sizes[number],) if p.count is not None else ()))
    record = np.dtype(fields)
    if element.count and element.count * record.itemsize <= len(data) - at:
        rows = np.frombuffer(data, record, count=element.count, offset=at)
        if all(np.all(rows[f"count{i}"] == sizes[i]) for i, p in enumerate(element.properties) if p.count is not None):
            for i, p in enumerate(element.properties):
                size = np.full(element.count, sizes[i]) if p.count is not None else None
                columns[element.name, p.name] = (rows[f"value{i}"].ravel(), size)
            return at + element.count * record.itemsize
    return _uneven(data, at, order, element, columns)


def _first_sizes(data: bytes, at: int, order: str, element: Element) -> list[int]:
    """List sizes of the first row (0 for other properties)."""
    sizes = []
    for p in element.properties:
        size = 0
        if p.count is not None and element.count:
            size, at = _list_size(data, at, order, p, element)
        sizes.append(size)
        at += np.dtype(p.type).itemsize * (size if p.count is not None else 1)
    return sizes


def _list_size(data: bytes, at: int, order: str, p: Property, element: Element) -> tuple[int, int]:
    count = np.dtype(order + str(p.count))
    if at + count.itemsize > len(data):
        raise ValueError(f"got the end of the file inside {element.name}; expected {p.name}")
    size = float(np.frombuffer(data, count, 1, at)[0])
    at += count.itemsize
    if not (0 <= size <= (len(data) - at) / np.dtype(p.type).itemsize and size == int(size)):
        raise ValueError(
            f"got {p.name} of size {size:g} in {element.name}; expected as many values as follow in the file"
        )
    return int(size), at


def _uneven(data: bytes, at: int, order: str, element: Element, columns: Columns) -> int:
    """Rows whose lists differ in size, one at a time."""
    values: list[list[np.ndarray]] = [[] for _ in element.properties]
    for _ in range(element.count):
        for number, p in enumerate(element.properties):
            size = 1
            if p.count is not None:
                size, at = _list_size(data, at, order, p, element)
            kind = np.dtype(order + p.type)
            if at + size * kind.itemsize > len(data):
                raise ValueError(f"got the end of the file inside {element.name}; expected {p.name}")
            values[number].append(np.frombuffer(data, kind, size, at))
            at += size * kind.itemsize
    for number, p in enumerate(element.properties):
        size = np.array([len(v) for v in values[number]], np.int64) if p.count is not None else None
        columns[element.name, p.name] = (np.concatenate([np.zeros(0), *values[number]]), size)
    return at


def _raw(elements: list[Element], columns: Columns) -> Raw:
    count = {e.name: e.count for e in elements}
    if missing := [c for c in "xyz" if ("vertex", c) not in columns or columns["vertex", c][1] is not None]:
        raise ValueError(f"got no {', '.join(missing)} of vertices; expected the element vertex with x, y and z")
    with np.errstate(invalid="ignore"):  # a signalling NaN; the mesh refuses every kind of NaN
        points = np.stack([columns["vertex", c][0].astype(np.float64) for c in "xyz"], axis=1)
    used = {("vertex", c) for c in "xyz"}
    blocks: list[Block] = []
    for name in ("vertex_indices", "vertex_index"):
        if ("face", name) in columns and columns["face", name][1] is not None:
            used.add(("face", name))
            blocks += _polygons(*columns["face", name])  # type: ignore[arg-type]
    if {("edge", "vertex1"), ("edge", "vertex2")} <= set(columns):
        used |= {("edge", "vertex1"), ("edge", "vertex2")}
        pair = np.stack([_whole(columns["edge", v][0], "edge") for v in ("vertex1", "vertex2")], axis=1)
        blocks.append(block("edge", pair))
    if count.get("face") and not blocks:
        raise ValueError("got faces without a list vertex_indices; expected 'property list ... vertex_indices'")
    if strips := [e for e in ("tristrips",) if count.get(e)]:
        raise ValueError(f"got {strips[0]}; expected faces (export triangles)")
    left = sorted(f"{e} {p}" for e, p in columns if (e, p) not in used)
    return Raw(points, blocks, [f"left out: {', '.join(left)}"] if left else [])


def _whole(values: np.ndarray, what: str) -> np.ndarray:
    bad = ~(np.abs(values) < 2.0**53) | (values != np.floor(np.where(np.isfinite(values), values, 0.5)))
    if bad.any():
        raise ValueError(f"got index {values[bad][0]:g} in {what}; expected whole numbers")
    return values.astype(np.int64)


def _polygons(values: np.ndarray, size: np.ndarray) -> list[Block]:
    """Blocks of faces, one for each number of corners."""
    index, start = _whole(values, "face"), np.cumsum(size) - size
    if np.any(size < 3):
        at = int(np.flatnonzero(size < 3)[0])
        raise ValueError(f"got face {at} of {size[at]} corners; expected at least 3")
    members = [np.flatnonzero(size == k) for k in np.unique(size)]
    return [block("polygon", index[start[m, None] + np.arange(int(size[m[0]]))], m) for m in members]


def write(mesh: Mesh, *, binary: bool = True, big_endian: bool = False) -> tuple[bytes, list[str]]:
    """A PLY file of triangles in double precision: binary of either byte order, or text."""
    only_triangles(mesh, "PLY")
    if big_endian and not binary:
        raise ValueError("got big_endian=True with binary=False; a text file has no byte order")
    points, order = spatial(mesh), ">" if big_endian else "<"
    kind = "ascii" if not binary else "binary_big_endian" if big_endian else "binary_little_endian"
    head = "\n".join(
        [
            *("ply", f"format {kind} 1.0", f"element vertex {len(points)}"),
            *(f"property double {c}" for c in "xyz"),
            *(f"element face {len(mesh.cells)}", "property list uchar int vertex_indices", "end_header", ""),
        ]
    ).encode()
    if len(points) > 2**31 - 1:
        raise ValueError(f"got {len(points)} points; expected fewer than 2^31 for PLY")
    if not binary:
        rows = [" ".join(map(repr, row)) for row in points.tolist()] + [
            f"3 {a} {b} {c}" for a, b, c in mesh.cells.tolist()
        ]
        return head + ("\n".join(rows) + "\n").encode(), lost_groups(mesh, "PLY")
    faces = np.empty(len(mesh.cells), np.dtype([("n", "u1"), ("v", order + "i4", 3)]))
    faces["n"], faces["v"] = 3, mesh.cells
    return head + points.astype(order + "f8").tobytes() + faces.tobytes(), lost_groups(mesh, "PLY")
