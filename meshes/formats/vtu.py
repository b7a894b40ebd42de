"""VTU: VTK's XML file of unstructured grids, with text, base64 or appended data, compressed or not."""

import base64
import re
import xml.etree.ElementTree as ET
from xml.sax.saxutils import quoteattr

import numpy as np

from meshes.formats.raw import Block, Raw, spatial
from meshes.formats.vtu_data import DTYPES, File, values_of
from meshes.mesh import Mesh
from meshes.tables import find

SUFFIXES = (".vtu",)
_KINDS = {
    1: ("vertex", 1),
    3: ("edge", 2),
    5: ("triangle", 3),
    7: ("polygon", 0),
    8: ("polygon", 4),
    9: ("polygon", 4),
    10: ("tetrahedron", 4),
}
_TYPES = {0: 1, 1: 3, 2: 5, 3: 10}
_GROUP = "group:"


def read(data: bytes) -> Raw:
    """Points and cells of every piece; cell arrays named 'group:NAME' are groups, other arrays are left out."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ValueError("got XML with a document type; expected a VTU file, which has none")
    data, appended = _split(data)
    try:
        root = ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError) as error:
        raise ValueError(f"got XML that does not parse ({error}); expected a VTU file") from None
    grid = root.find("UnstructuredGrid")
    if root.tag != "VTKFile" or grid is None:
        raise ValueError(f"got <{root.tag} type={root.get('type')!r}>; expected <VTKFile type='UnstructuredGrid'>")
    held = root.find("AppendedData")
    order = {"LittleEndian": "<", "BigEndian": ">"}.get(root.get("byte_order", "LittleEndian"))
    header = {"UInt32": "u4", "UInt64": "u8"}.get(root.get("header_type", "UInt32"))
    if order is None or header is None:
        raise ValueError(
            f"got byte_order={root.get('byte_order')!r}, header_type={root.get('header_type')!r}; expected those of VTK"
        )
    encoding = "" if held is None else held.get("encoding", "base64")
    if held is not None and encoding == "base64":
        appended = (held.text or "").strip().removeprefix("_").encode("ascii", "replace")
    file = File(order, np.dtype(order + header), root.get("compressor", ""), appended, encoding)
    points, blocks, left, rank = [np.zeros((0, 3))], [], set(), 0
    for piece in grid.findall("Piece"):
        own, cells, extra = _piece(piece, file, sum(map(len, points)), rank)
        points.append(own)
        blocks += cells
        rank += sum(len(b.cells) for b in cells)
        left |= extra
    return Raw(np.concatenate(points), blocks, [f"left out: {', '.join(sorted(left))}"] if left else [])


def _split(data: bytes) -> tuple[bytes, bytes]:
    """XML without raw appended bytes, and those bytes."""
    match = re.search(rb"<AppendedData[^>]*encoding\s*=\s*[\"']raw[\"'][^>]*>\s*_", data)
    if not match:
        return data, b""
    end = data.rfind(b"</AppendedData>")
    end = len(data) if end < match.end() else end
    return data[: match.end()] + (data[end:] if end < len(data) else b"</AppendedData></VTKFile>"), data[
        match.end() : end
    ]


def _piece(piece: ET.Element, file: File, before: int, rank: int) -> tuple[np.ndarray, list[Block], set[str]]:
    held = piece.find("Points/DataArray")
    count = {name: _count(piece, name) for name in ("NumberOfPoints", "NumberOfCells")}
    if not count["NumberOfPoints"] and not count["NumberOfCells"]:
        return np.zeros((0, 3)), [], set()
    if held is None:
        raise ValueError("got a piece without Points; expected a data array of coordinates")
    with np.errstate(invalid="ignore"):  # a signalling NaN; the mesh refuses every kind of NaN
        points = values_of(held, file).astype(np.float64)
    if points.size != 3 * count["NumberOfPoints"]:
        raise ValueError(f"got {points.size} coordinates; expected 3 for each of {count['NumberOfPoints']} points")
    arrays = {a.get("Name"): a for a in piece.findall("Cells/DataArray")}
    if missing := [n for n in ("connectivity", "offsets", "types") if n not in arrays]:
        raise ValueError(f"got Cells without {missing[0]}; expected connectivity, offsets and types")
    connectivity, offsets, types = (_whole(values_of(arrays[n], file), n) for n in ("connectivity", "offsets", "types"))
    if len(offsets) != count["NumberOfCells"] or len(types) != len(offsets):
        raise ValueError(
            f"got {len(offsets)} offsets and {len(types)} types; expected {count['NumberOfCells']}, as the piece says"
        )
    size = np.diff(offsets, prepend=0)
    if len(offsets) and (size.min() < 0 or offsets[-1] != len(connectivity)):
        raise ValueError(f"got offsets that do not rise to {len(connectivity)}, the number of corners")
    if connectivity.size and not (connectivity.min() >= 0 and connectivity.max() < count["NumberOfPoints"]):
        bad = connectivity.max() if connectivity.max() >= count["NumberOfPoints"] else connectivity.min()
        raise ValueError(
            f"got index {bad}, {count['NumberOfPoints']} vertices; expected indices from 0 in connectivity"
        )
    data = {a.get("Name") or "": a for a in piece.findall("CellData/DataArray")}
    members = {n.removeprefix(_GROUP): _member(data[n], file, len(offsets)) for n in data if n.startswith(_GROUP)}
    left = {f"cell data {n}" for n in data if not n.startswith(_GROUP)}
    left |= {f"point data {a.get('Name')}" for a in piece.findall("PointData/DataArray")}
    return points.reshape(-1, 3), _cells(connectivity + before, offsets - size, size, types, members, rank), left


def _count(piece: ET.Element, name: str) -> int:
    text = piece.get(name, "")
    if not re.fullmatch(r"\d{1,15}", text):
        raise ValueError(f"got {name}={text!r}; expected a whole number")
    return int(text)


def _member(array: ET.Element, file: File, cells: int) -> np.ndarray:
    values = values_of(array, file)
    if len(values) != cells:
        raise ValueError(f"got {len(values)} values in {array.get('Name')}; expected one for each of {cells} cells")
    return values != 0


def _cells(
    connectivity: np.ndarray,
    start: np.ndarray,
    size: np.ndarray,
    types: np.ndarray,
    members: dict[str, np.ndarray],
    rank: int,
) -> list[Block]:
    blocks = []
    for kind, corners in sorted({(int(k), int(n)) for k, n in zip(types, size, strict=True)}):
        if kind not in _KINDS or corners != (_KINDS[kind][1] or corners):
            raise ValueError(
                f"got cells of VTK type {kind} with {corners} corners; expected vertices, lines, triangles, polygons, "
                "quadrilaterals or tetrahedra (types 1, 3, 5, 7, 8, 9, 10)"
            )
        own = np.flatnonzero((types == kind) & (size == corners))
        cells = connectivity[start[own, None] + np.arange(corners)]
        if kind == 8:  # a pixel lists its corners row by row
            cells = cells[:, [0, 1, 3, 2]]
        groups = {name: np.flatnonzero(inside[own]) for name, inside in members.items()}
        blocks.append(Block(_KINDS[kind][0], cells, rank + own, {n: g for n, g in groups.items() if len(g)}))
    return blocks


def _whole(values: np.ndarray, what: str) -> np.ndarray:
    if values.dtype.kind == "f" and np.any(values != np.floor(np.where(np.isfinite(values), values, 0.5))):
        raise ValueError(f"got {what} that are not whole numbers")
    if values.size and (float(values.max()) >= 2**53 or float(values.min()) < -(2**53)):
        raise ValueError(f"got {what} of {values.max()}; expected whole numbers below 2^53")
    return values.astype(np.int64)


def write(mesh: Mesh, *, binary: bool = True) -> tuple[bytes, list[str]]:
    """A VTU file: cells, then group rows of lower degree; each group is a cell array 'group:NAME' of ones and zeros."""
    points = np.pad(mesh.points, ((0, 0), (0, 3 - mesh.points.shape[1]))) if mesh.points.shape[1] < 3 else spatial(mesh)
    rows, size, types, members = _listed(mesh)
    arrays = {
        "Points": [_data("Points", points, binary, 3)],
        "Cells": [
            _data("connectivity", np.concatenate([r.ravel() for r in rows]), binary),
            _data("offsets", np.cumsum(size), binary),
            _data("types", types.astype(np.uint8), binary),
        ],
        "CellData": [_data(_GROUP + name, inside.astype(np.uint8), binary) for name, inside in members.items()],
    }
    body = "".join(f"<{tag}>\n{''.join(held)}</{tag}>\n" for tag, held in arrays.items())
    text = (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
        f'<UnstructuredGrid>\n<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(size)}">\n{body}'
        "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
    )
    lost = ["edge lengths are not held by VTU: left out"] if mesh.lengths is not None else []
    for name, group in mesh.groups.items():
        if members[name].sum() < len(np.unique(np.sort(group, axis=1), axis=0)) or not len(group):
            lost.append(f"group {name!r} has rows that are no cells, or none: left out")
    return text.encode(), lost


def _listed(mesh: Mesh) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Rows of cells and of groups of lower degree, their sizes and VTK types, and which rows each group has."""
    rows = [mesh.cells]
    for degree in range(mesh.degree - 1, -1, -1):
        lower = [np.sort(r, axis=1) for r in mesh.groups.values() if r.shape[1] == degree + 1]
        if lower:
            _, first = np.unique(np.concatenate(lower), axis=0, return_index=True)
            rows.append(np.concatenate([r for r in mesh.groups.values() if r.shape[1] == degree + 1])[np.sort(first)])
    start = np.cumsum([0, *(len(r) for r in rows)])
    members = {}
    for name, group in mesh.groups.items():
        if not name.isprintable():
            raise ValueError(f"got the group name {name!r}; expected a printable one for VTU")
        inside = np.zeros(start[-1], bool)
        level = next(i for i, r in enumerate(rows) if r.shape[1] == group.shape[1])
        own, first = np.unique(np.sort(group, axis=1), axis=0), start[level]
        inside[first : first + len(rows[level])] = find(own, rows[level]) >= 0
        members[name] = inside
    size = np.concatenate([np.full(len(r), r.shape[1]) for r in rows])
    return rows, size, np.array([_TYPES[n - 1] for n in range(1, 5)])[size - 1], members


def _data(name: str, values: np.ndarray, binary: bool, width: int = 1) -> str:
    kind = {"f": "Float64", "i": "Int64", "u": "UInt8"}[values.dtype.kind]
    if binary:
        held = values.astype("<" + DTYPES[kind]).tobytes()
        text = base64.b64encode(len(held).to_bytes(8, "little") + held).decode()
    else:
        text = " ".join(map(repr, values.ravel().tolist()))
    form = "binary" if binary else "ascii"
    wide = f' NumberOfComponents="{width}"' if width > 1 else ""
    return f'<DataArray Name={quoteattr(name)} type="{kind}"{wide} format="{form}">\n{text}\n</DataArray>\n'
