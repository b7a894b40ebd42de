"""Damaged mesh files: one of every format and encoding, and random damage to their bytes."""

import re
from pathlib import Path

import numpy as np

import meshes

_TOKENS = (
    b"nan",
    b"inf",
    b"-inf",
    b"1e308",
    b"-1e308",
    b"1e400",
    b"-1",
    b"0",
    b"4294967295",
    b"99999999999999999999",
    b"x",
    b"3.5",
    b"",
)
_WORDS = (
    b"\xff" * 8,
    b"\x00" * 8,
    np.float64(np.nan).tobytes(),
    np.float64(1e308).tobytes(),
    np.float32(np.inf).tobytes(),
    np.int64(2**62).tobytes(),
)


def samples(folder: Path) -> dict[str, tuple[Path, bytes]]:
    """A small file of each format and encoding: a file name in the folder and the bytes, by kind.

    The text file of cells has its file of points beside it.
    """
    surface, solid = meshes.torus(4, around=5), meshes.cube(1)
    plane = meshes.square(2)
    kinds = {
        "off": (surface, "off", {}),
        "obj": (plane, "obj", {}),
        "ply text": (surface, "ply", {"binary": False}),
        "ply little": (surface, "ply", {}),
        "ply big": (surface, "ply", {"big_endian": True}),
        "stl text": (surface, "stl", {"binary": False}),
        "stl binary": (surface, "stl", {}),
        "msh 2.2 text": (plane, "msh", {"version": "2.2"}),
        "msh 2.2 binary": (solid, "msh", {"version": "2.2", "binary": True}),
        "msh 4.1 text": (solid, "msh", {}),
        "msh 4.1 binary": (plane, "msh", {"binary": True}),
        "vtu text": (plane, "vtu", {"binary": False}),
        "vtu base64": (solid, "vtu", {}),
    }
    found = {}
    for name, (mesh, suffix, options) in kinds.items():
        path = folder / f"mutant.{suffix}"
        meshes.write(mesh, path, **options)
        found[name] = (path, path.read_bytes())
    points, cells = folder / "mutant_vertices.txt", folder / "mutant_triangles.txt"
    meshes.write(surface, points, cells)
    found["text"] = (cells, cells.read_bytes())
    return found


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with one kind of damage, or more."""
    for _ in range(rng.geometric(0.7)):
        data = _DAMAGE[rng.integers(len(_DAMAGE))](data, rng)
    return data


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(0, len(data) + 1)]


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    raw = np.frombuffer(data, np.uint8).copy()
    if len(raw):
        raw[rng.integers(0, len(raw), rng.integers(1, 6))] = rng.integers(0, 256)
    return raw.tobytes()


def _token(data: bytes, rng: np.random.Generator) -> bytes:
    """Another number (or none) for a number of the text."""
    places = list(re.finditer(rb"-?\d[\d.e+-]*", data))
    if not places:
        return data
    place = places[rng.integers(min(len(places), 12) if rng.random() < 0.5 else len(places))]
    return data[: place.start()] + _TOKENS[rng.integers(len(_TOKENS))] + data[place.end() :]


def _word(data: bytes, rng: np.random.Generator) -> bytes:
    """A special value over some bytes."""
    word, at = _WORDS[rng.integers(len(_WORDS))], int(rng.integers(0, len(data) + 1))
    return (data[:at] + word + data[at + len(word) :])[: len(data)]


def _drop(data: bytes, rng: np.random.Generator) -> bytes:
    at = rng.integers(0, len(data) + 1)
    return data[:at] + data[at + rng.integers(1, 40) :]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    a, b = np.sort(rng.integers(0, len(data) + 1, 2))
    return data[:b] + data[a:b] + data[b:]


_DAMAGE = (_cut, _flip, _token, _token, _token, _word, _drop, _repeat)
