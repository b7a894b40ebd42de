"""Gmsh MSH 2.2 and 4.1, text and binary: nodes by tag, elements by entity, physical groups."""

import re
from typing import NamedTuple

import numpy as np

from meshes.formats.msh_write import write as write
from meshes.formats.raw import Block, Raw
from meshes.formats.text import Numbers, by_line, numbers, show, whole
from meshes.tables import numbered

SUFFIXES = (".msh",)
_KINDS = {15: ("vertex", 1), 1: ("edge", 2), 2: ("triangle", 3), 3: ("polygon", 4), 4: ("tetrahedron", 4)}
_DEGREE = {15: 0, 1: 1, 2: 2, 3: 2, 4: 3}
_KNOWN = ("MeshFormat", "PhysicalNames", "Entities", "Nodes", "Elements")


class _Text:
    """Numbers of a text section, taken one after another."""

    def __init__(self, found: Numbers, section: str) -> None:
        self.found, self.section, self.at = found, section, 0

    def doubles(self, n: int) -> np.ndarray:
        if n < 0 or n > len(self.found.values) - self.at:
            raise ValueError(f"got the end of ${self.section}; expected {n} more numbers, as its counts say")
        self.at += n
        return self.found.values[self.at - n : self.at]

    def ints(self, n: int) -> np.ndarray:
        values = self.doubles(n)
        return whole(values, self.found.line[self.at - n : self.at], "number")

    sizes = ints


class _Binary:
    """Numbers of a binary section."""

    def __init__(self, data: bytes, at: int, order: str, section: str) -> None:
        self.data, self.at, self.order, self.section = data, at, order, section

    def _take(self, n: int, kind: str) -> np.ndarray:
        size = int(kind[1]) * n
        if n < 0 or size > len(self.data) - self.at:
            raise ValueError(
                f"got the end of the file in ${self.section}; expected {n} more numbers, as its counts say"
            )
        self.at += size
        return np.frombuffer(self.data, self.order + kind, n, self.at - size)

    def ints(self, n: int) -> np.ndarray:
        return self._take(n, "i4").astype(np.int64)

    def sizes(self, n: int) -> np.ndarray:
        values = self._take(n, "u8")
        if np.any(values >= 2**53):
            raise ValueError(f"got the count or tag {values.max()} in ${self.section}; expected one below 2^53")
        return values.astype(np.int64)

    def doubles(self, n: int) -> np.ndarray:
        return self._take(n, "f8").astype(np.float64)


Source = _Text | _Binary  # the next n of C type int, size_t or double


class Elements(NamedTuple):
    """Elements of one Gmsh type on one entity: node tags, and the physical tags of all of them."""

    type: int
    nodes: np.ndarray
    physical: tuple[int, ...]
    rank: np.ndarray


class _Head(NamedTuple):
    version: str
    order: str | None  # byte order of a binary file, None for text


def read(data: bytes) -> Raw:
    """Points, elements and physical groups of an MSH file, version 2 (2.0 to 2.2) or 4.1."""
    head, at = _head(data)
    names: dict[tuple[int, int], str] = {}
    entities: dict[tuple[int, int], tuple[int, ...]] = {}
    tags, points, elements, notes = np.zeros(0, np.int64), np.zeros((0, 3)), [], []
    seen: set[str] = set()
    while (section := _next(data, at)) is not None:
        name, at = section
        if name in seen and name in _KNOWN:
            raise ValueError(f"got ${name} twice; expected one of each section")
        seen.add(name)
        if name == "PhysicalNames":
            names = _names(_body(data, at, name)[0], data.count(b"\n", 0, at) + 1)
        elif name == "Entities" and head.version == "4.1":
            with_end = _source(data, at, name, head)
            entities = _entities(with_end)
            at = _used(with_end, at)
        elif name == "Nodes":
            with_end = _source(data, at, name, head)
            tags, points = (_nodes4 if head.version == "4.1" else _nodes2)(with_end)
            at = _used(with_end, at)
            _finished(with_end)
        elif name == "Elements":
            with_end = _source(data, at, name, head)
            elements = _elements4(with_end, entities) if head.version == "4.1" else _elements2(with_end)
            at = _used(with_end, at)
            if head.version == "4.1":
                _finished(with_end)
        elif name not in _KNOWN:
            notes.append(f"left out: section ${name}")
        at = _end(data, at, name)
    if missing := [s for s in ("Nodes", "Elements") if s not in seen]:
        raise ValueError(f"got no ${missing[0]}; expected the sections $Nodes and $Elements")
    return Raw(points, _blocks(tags, elements, names, notes), notes)


def _head(data: bytes) -> tuple[_Head, int]:
    match = re.match(rb"\s*\$MeshFormat\s*\n\s*(\S+)[ \t]+(\d+)[ \t]+(\d+)[ \t]*\r?\n", data)
    if not match:
        raise ValueError(f"line 1: got {show(data[:20])}; expected $MeshFormat with version, file type and data size")
    version, binary, size = match[1].decode("ascii", "backslashreplace"), match[2], match[3]
    if version not in ("2", "2.0", "2.1", "2.2", "4.1") or binary not in (b"0", b"1") or size != b"8":
        raise ValueError(
            f"line 2: got MSH version {version}, type {binary.decode()}, size {size.decode()}; "
            "expected version 2.2 or 4.1, type 0 or 1, size 8"
        )
    at, order = match.end(), None
    if binary == b"1":
        one = data[at : at + 4]
        order = {b"\x01\0\0\0": "<", b"\0\0\0\x01": ">"}.get(one)
        if order is None:
            raise ValueError(f"got {one!r} after $MeshFormat; expected the number one, which tells the byte order")
        at += 4
    return _Head("4.1" if version == "4.1" else "2", order), _end(data, at, "MeshFormat")


def _next(data: bytes, at: int) -> tuple[str, int] | None:
    """The next section's name and where its body begins."""
    match = re.compile(rb"\s*\$(\w+)[ \t]*\r?\n?").match(data, at)
    if match:
        return match[1].decode("ascii", "backslashreplace"), match.end()
    if data[at:].strip():
        line, got = data.count(b"\n", 0, at) + 1, show(data[at : at + 30].split(b"\n")[0])
        raise ValueError(f"line {line}: got {got}; expected a section '$...'")
    return None


def _body(data: bytes, at: int, name: str) -> tuple[bytes, int]:
    end = data.find(f"$End{name}".encode(), at)
    if end < 0:
        raise ValueError(f"got ${name} without $End{name}; expected a whole section")
    return data[at:end], end


def _end(data: bytes, at: int, name: str) -> int:
    """Where the section's end mark ends."""
    _, end = _body(data, at, name)
    return end + len(name) + 4


def _source(data: bytes, at: int, name: str, head: _Head) -> Source:
    if head.order is not None:
        return _Binary(data, at, head.order, name)
    return _Text(numbers(_body(data, at, name)[0], data.count(b"\n", 0, at) + 1), name)


def _finished(source: Source) -> None:
    """ValueError where a text section holds more numbers than its counts say."""
    if isinstance(source, _Text) and source.at < len(source.found.values):
        line = source.found.line[source.at]
        raise ValueError(f"line {line}: got more numbers in ${source.section} than its counts say")


def _used(source: Source, at: int) -> int:
    """Where a binary section was read to, so that bytes that look like an end mark are passed."""
    return source.at if isinstance(source, _Binary) else at


def _names(body: bytes, line: int) -> dict[tuple[int, int], str]:
    names = {}
    for number, text in enumerate(body.strip().split(b"\n")[1:], start=line + 1):
        match = re.match(rb'\s*(\d+)\s+(-?\d+)\s+"(.*)"\s*$', text)
        if not match:
            raise ValueError(f'line {number}: got {show(text)}; expected dimension, tag and "name" of a physical group')
        names[int(match[1]), int(match[2])] = match[3].decode("utf-8", "backslashreplace")
    return names


def _entities(source: Source) -> dict[tuple[int, int], tuple[int, ...]]:
    """Physical tags of each entity (dimension, tag)."""
    counts = source.sizes(4)
    found = {}
    for dimension, count in enumerate(counts.tolist()):
        for _ in range(count):
            tag = int(source.ints(1)[0])
            source.doubles(6 if dimension else 3)
            found[dimension, tag] = tuple(abs(t) for t in source.ints(int(source.sizes(1)[0])).tolist())
            if dimension:
                source.ints(int(source.sizes(1)[0]))
    return found


def _nodes4(source: Source) -> tuple[np.ndarray, np.ndarray]:
    blocks, total, _, _ = source.sizes(4).tolist()
    tags, points = [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for _ in range(blocks):
        dimension, _, parametric = source.ints(3).tolist()
        count = int(source.sizes(1)[0])
        if not 0 <= dimension <= 3 or parametric not in (0, 1):
            raise ValueError(
                f"got a node block of dimension {dimension}, parametric {parametric}; expected 0 to 3, and 0 or 1"
            )
        tags.append(source.sizes(count))
        width = 3 + dimension * parametric
        points.append(source.doubles(count * width).reshape(count, width)[:, :3])
    found = np.concatenate(tags), np.concatenate(points)
    if len(found[0]) != total:
        raise ValueError(f"got {len(found[0])} nodes; expected {total}, as $Nodes says")
    return found


def _nodes2(source: Source) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(source, _Text):
        count = int(source.ints(1)[0])
        rows = source.doubles(count * 4).reshape(count, 4)
        line = source.found.line[source.at - 4 * count : source.at].reshape(count, 4)
        return whole(rows[:, 0], line[:, 0], "node tag"), rows[:, 1:].copy()
    count = _count_line(source)
    record = np.dtype([("tag", source.order + "i4"), ("x", source.order + "f8", 3)])
    rows = _records(source, record, count)
    return rows["tag"].astype(np.int64), rows["x"].astype(np.float64)


def _count_line(source: _Binary) -> int:
    """The count that begins a binary section of version 2, which is text."""
    match = re.compile(rb"(\d{1,18})[ \t]*\r?\n").match(source.data, source.at)
    if not match:
        raise ValueError(f"got no count at the start of ${source.section}; expected a line with a number")
    source.at = match.end()
    return int(match[1])


def _records(source: _Binary, record: np.dtype, count: int) -> np.ndarray:
    size = record.itemsize * count
    if size > len(source.data) - source.at:
        raise ValueError(f"got the end of the file in ${source.section}; expected {count} records, as its count says")
    source.at += size
    return np.frombuffer(source.data, record, count, source.at - size)


def _kind(number: int) -> tuple[str, int]:
    if number not in _KINDS:
        raise ValueError(
            f"got elements of Gmsh type {number}; expected linear points, lines, triangles, quadrangles or tetrahedra "
            "(types 15, 1, 2, 3, 4): mesh with order 1 and without hexahedra, prisms or pyramids"
        )
    return _KINDS[number]


def _elements4(source: Source, entities: dict[tuple[int, int], tuple[int, ...]]) -> list[Elements]:
    blocks, total, _, _ = source.sizes(4).tolist()
    found, rank = [], 0
    for _ in range(blocks):
        dimension, tag, number = source.ints(3).tolist()
        count = int(source.sizes(1)[0])
        width = 1 + _kind(number)[1]
        rows = source.sizes(count * width).reshape(count, width)
        found.append(Elements(number, rows[:, 1:], entities.get((dimension, tag), ()), rank + np.arange(count)))
        rank += count
    if rank != total:
        raise ValueError(f"got {rank} elements; expected {total}, as $Elements says")
    return found


def _elements2(source: Source) -> list[Elements]:
    rows = _rows2_text(source) if isinstance(source, _Text) else _rows2_binary(source)
    found: list[Elements] = []
    for number, physical, nodes, rank in rows:
        for tag in np.unique(physical).tolist():
            own = physical == tag
            found.append(Elements(number, nodes[own], (abs(tag),) if tag else (), rank[own]))
    return found


_Rows = list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]  # type, physical tags, nodes, rank


def _rows2_text(source: _Text) -> _Rows:
    count = int(source.ints(1)[0])
    values, line = source.found.values[source.at :], source.found.line[source.at :]
    lines, start, tokens = by_line(line)
    if len(lines) < count:
        raise ValueError(f"got {len(lines)} elements; expected {count}, as $Elements says")
    if len(lines) > count:
        raise ValueError(f"line {lines[count]}: got more than {count} elements; expected as many as $Elements says")
    if np.any(tokens < 3):
        raise ValueError(
            f"line {lines[tokens < 3][0]}: got too few numbers; expected number, type, tag count, tags and nodes"
        )
    number, tags = (whole(values[start + i], lines, what) for i, what in ((1, "element type"), (2, "tag count")))
    rows: _Rows = []
    for kind, width in {(int(k), int(w)) for k, w in zip(number, tags, strict=True)}:
        own = np.flatnonzero((number == kind) & (tags == width))
        need = 3 + width + _kind(kind)[1]
        if width < 0 or np.any(tokens[own] != need):
            raise ValueError(f"line {lines[own[0]]}: got {tokens[own[0]]} numbers; expected {need} for this element")
        place = start[own, None] + 3 + np.arange(need - 3)
        body = whole(values[place], line[place], "number")
        rows.append((kind, body[:, 0] if width else np.zeros(len(own), np.int64), body[:, width:], own))
    return rows


def _rows2_binary(source: _Binary) -> _Rows:
    count, rank, rows = _count_line(source), 0, []
    while rank < count:
        kind, many, width = source.ints(3).tolist()
        if many < 1 or width < 0:
            raise ValueError(
                f"got a block of {many} elements with {width} tags in $Elements; expected at least one element"
            )
        size = 1 + width + _kind(kind)[1]
        body = source.ints(many * size).reshape(many, size)
        rows.append(
            (kind, body[:, 1] if width else np.zeros(many, np.int64), body[:, 1 + width :], rank + np.arange(many))
        )
        rank += many
    return rows


def _blocks(
    tags: np.ndarray, elements: list[Elements], names: dict[tuple[int, int], str], notes: list[str]
) -> list[Block]:
    """Blocks with vertex numbers for node tags and groups for physical tags."""
    order = np.argsort(tags, kind="stable")
    ordered = tags[order]
    if np.any(same := ordered[1:] == ordered[:-1]):
        raise ValueError(f"got the node tag {ordered[1:][same][0]} twice; expected each once")
    blocks = []
    for e in elements:
        place = np.minimum(np.searchsorted(ordered, e.nodes), max(len(tags) - 1, 0))
        if e.nodes.size and (not len(tags) or np.any(ordered[place] != e.nodes)):
            bad = e.nodes[ordered[place] != e.nodes][0] if len(tags) else e.nodes.flat[0]
            raise ValueError(f"got node {bad} in an element; expected a tag of $Nodes")
        groups = {names.get((_DEGREE[e.type], t), f"physical {t}"): np.arange(len(e.nodes)) for t in e.physical}
        blocks.append(Block(_kind(e.type)[0], order[place], e.rank, groups))
    return _repeated(blocks, elements, notes)


def _repeated(blocks: list[Block], elements: list[Elements], notes: list[str]) -> list[Block]:
    """Blocks in which an element listed once for each of several physical groups (as version 2 does) is one element."""
    first: dict[tuple[int, ...], tuple[int, int]] = {}
    wide = [np.pad(b.cells, ((0, 0), (0, 4 - b.cells.shape[1])), constant_values=-1) for b in blocks]
    if sum(map(len, wide)) == len(numbered(np.concatenate([np.zeros((0, 4), np.int64), *wide]))[0]):
        return blocks
    extra = 0
    kept: list[list[int]] = [[] for _ in blocks]
    more: list[dict[str, list[int]]] = [{n: v.tolist() for n, v in b.groups.items()} for b in blocks]
    for number, b in enumerate(blocks):
        for row, cell in enumerate(b.cells.tolist()):
            key = (len(cell), *cell)
            owner = first.setdefault(key, (number, row))
            groups = [n for n, v in b.groups.items() if len(v)]
            fresh = [n for n in groups if n not in blocks[owner[0]].groups]
            again = owner[0] != number and groups and elements[owner[0]].physical != elements[number].physical
            if owner == (number, row) or not again:
                kept[number].append(row)
                continue
            extra += 1
            for name in fresh:
                more[owner[0]].setdefault(name, []).append(owner[1])
    if extra:
        notes.append(f"{extra} elements listed again for another physical group: one element in both")
    out = []
    for b, rows, groups in zip(blocks, kept, more, strict=True):
        place = {row: i for i, row in enumerate(rows)}
        own = {n: np.array(sorted({place[r] for r in v if r in place}), np.int64) for n, v in groups.items()}
        out.append(Block(b.kind, b.cells[rows], b.rank[rows], own))
    return out
