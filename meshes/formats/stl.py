"""STL: a soup of triangles, binary or text."""

import re

import numpy as np

from meshes.formats.raw import Raw, block, lost_groups, only_triangles, spatial
from meshes.formats.text import numbers
from meshes.mesh import Mesh

SUFFIXES = (".stl",)
SOUP = True  # corners have no numbers, so reading welds equal ones unless told not to
_RECORD = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("attribute", "<u2")])
_WORDS = re.compile(rb"\b(?:facet\s+normal|outer\s+loop|vertex|endloop|endfacet|endsolid[^\n]*|solid[^\n]*)", re.ASCII)


def read(data: bytes) -> Raw:
    """Three points of its own for each triangle. Binary where the size fits the count at byte 80, else text."""
    if len(data) >= 84 and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        with np.errstate(invalid="ignore"):  # a signalling NaN; the mesh refuses every kind of NaN
            return _soup(np.frombuffer(data, _RECORD, offset=84)["corner"].astype(np.float64).reshape(-1, 3))
    if data.lstrip()[:5].lower() != b"solid":
        said = int.from_bytes(data[80:84], "little") if len(data) >= 84 else None
        what = (
            f"{said} triangles and {len(data)} bytes; expected {84 + 50 * said} bytes"
            if said is not None
            else (f"{len(data)} bytes; expected a header of 84 bytes, or the word 'solid'")
        )
        raise ValueError(f"got an STL file of {what}")
    return _soup(_text(data.lower()))


def _text(data: bytes) -> np.ndarray:
    """Corners of a text file: three vertex lines in each facet."""
    words = [b" ".join(m.split()[:1]) for m in _WORDS.findall(data)]
    order = b"".join(
        {b"facet": b"f", b"outer": b"o", b"vertex": b"v", b"endloop": b"l", b"endfacet": b"e"}.get(w, b"")
        for w in words
    )
    if not re.fullmatch(rb"(fovvvle)*", order):
        good = next(i for i in range(len(order)) if order[7 * i : 7 * i + 7] != b"fovvvle")
        raise ValueError(
            f"got something else than 'facet normal', 'outer loop', three vertices and two ends in facet {good + 1}"
        )
    if not data.rstrip().split(b"\n")[-1].strip().startswith(b"endsolid"):
        raise ValueError("got text that does not end with 'endsolid'; expected a whole STL file")
    # blanks of the same length keep tokens on their lines
    found = numbers(_WORDS.sub(lambda m: re.sub(rb"[^\n]", b" ", m[0]), data), 1)
    facets = len(order) // 7
    if len(found.values) != 12 * facets:
        raise ValueError(
            f"got {len(found.values)} numbers in {facets} facets; expected 12 in each, a normal and three vertices"
        )
    return found.values.reshape(facets, 4, 3)[:, 1:].reshape(-1, 3)


def _soup(corners: np.ndarray) -> Raw:
    return Raw(corners, [block("triangle", np.arange(len(corners)).reshape(-1, 3))], [])


def write(mesh: Mesh, *, binary: bool = True) -> tuple[bytes, list[str]]:
    """An STL file of triangles: binary in single precision, or text."""
    only_triangles(mesh, "STL")
    points = spatial(mesh)[mesh.cells]
    with np.errstate(all="ignore"):
        normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.nan_to_num(normal, nan=0.0, posinf=0.0, neginf=0.0)
    notes = lost_groups(mesh, "STL")
    used = len(np.unique(mesh.cells))
    if used < len(mesh.points):
        notes.append(f"STL holds no vertices that are in no triangle: left out {len(mesh.points) - used}")
    if not binary:
        body = "".join(
            f"facet normal {n[0]!r} {n[1]!r} {n[2]!r}\n outer loop\n"
            + "".join(f"  vertex {v[0]!r} {v[1]!r} {v[2]!r}\n" for v in p)
            + " endloop\nendfacet\n"
            for n, p in zip(normal.tolist(), points.tolist(), strict=True)
        )
        return f"solid mesh\n{body}endsolid mesh\n".encode(), notes
    record = np.zeros(len(points), _RECORD)
    if np.abs(points).max() > np.finfo(np.float32).max:
        raise ValueError(
            f"got a coordinate of {np.abs(points).max():.3g}; expected single precision (or binary=False) for STL"
        )
    record["normal"], record["corner"] = normal, points
    if np.any(record["corner"] != points):
        notes.append("coordinates are rounded to single precision, which binary STL holds")
    return b"binary STL".ljust(80) + len(record).to_bytes(4, "little") + record.tobytes(), notes
