"""Reading and writing mesh files."""

import importlib
import inspect
import os
import pkgutil
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from meshes import formats
from meshes.change import weld as weld_points
from meshes.formats import arrays
from meshes.formats.raw import assemble, with_notes
from meshes.mesh import Mesh

_FORMATS: dict[str, ModuleType] = {
    suffix: module
    for info in pkgutil.iter_modules(formats.__path__)
    for module in [importlib.import_module(f"{formats.__name__}.{info.name}")]
    for suffix in getattr(module, "SUFFIXES", ())
}
SUFFIXES = tuple(sorted(_FORMATS))


class MeshFileError(ValueError):
    """A file that is not what it says: the message names the file and the line, index or count."""


def read(
    path: str | os.PathLike,
    cells: str | os.PathLike | None = None,
    *,
    one_based: bool = False,
    weld: bool = True,
    dimension: int | None = None,
) -> Mesh:
    """The mesh in a file; `notes` of the mesh say what reading did.

    By suffix: .off, .obj, .ply, .stl, .msh (2.2 and 4.1, text and binary), .vtu, and plain text, where `path` holds
    points and `cells` the rows of vertex indices (found by its name, X_vertices.txt and X_triangles.txt, if not given),
    counted from 1 with `one_based`. Polygons are cut into triangles; elements of lower degree and physical groups
    become groups. `weld` merges equal corners of formats that have no vertex numbers (STL). `dimension` is the number
    of coordinates wanted; by default last coordinates that are all zero are left out.

    Raises MeshFileError, a ValueError, for files that are missing or not what they say. No file is ever executed or
    unpickled, and sizes are checked before memory is taken.
    """
    path = Path(path)
    module = _format(path)
    try:
        if module is arrays:
            points, rows = (path, Path(cells)) if cells is not None else arrays.partner(path)
            path = points
            place = arrays.table(_bytes(points), "coordinates")
            path = rows
            return assemble(arrays.read(place, _bytes(rows), one_based=one_based), dimension)
        if cells is not None or one_based:
            raise ValueError(f"got options of plain text files with a {path.suffix} file, which says how it counts")
        mesh = assemble(module.read(_bytes(path)), dimension)
        if not getattr(module, "SOUP", False):
            return mesh
        return weld_points(mesh).mesh if weld else with_notes(mesh, ("corners are not welded",))
    except ValueError as error:
        raise MeshFileError(f"{path}: {error}") from None


def _format(path: Path) -> ModuleType:
    module = _FORMATS.get(path.suffix.lower())
    if module is None:
        raise MeshFileError(f"{path}: got the suffix {path.suffix!r}; expected one of {', '.join(SUFFIXES)}")
    return module


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise MeshFileError(
            f"got a file that does not open ({error.strerror or error}); expected a mesh file"
        ) from None


def write(
    mesh: Mesh, path: str | os.PathLike, cells: str | os.PathLike | None = None, **options: Any
) -> tuple[str, ...]:
    """Write a mesh to a file by its suffix, whole or not at all; returns what the format could not hold.

    Options, where a format has them: `binary` (.stl, .ply, .vtu: on; .msh: off), `big_endian` (.ply), `version` ("4.1"
    or "2.2", .msh). Plain text needs two paths, of points and of cells. Raises ValueError for what a format cannot hold
    at all.
    """
    path = Path(path)
    module = _format(path)
    if module is arrays:
        if cells is None:
            raise ValueError(f"got one path, {path}; expected two for plain text, of points and of cells")
        if options:
            raise ValueError(f"got the option {min(options)} for {path.suffix}; expected none")
        first, second, lost = arrays.write(mesh)
        _in_folder(Path(cells))
        _replace(path, first)
        _replace(Path(cells), second)
        return tuple(lost)
    known = set(inspect.signature(module.write).parameters) - {"mesh"}
    if unknown := sorted(set(options) - known):
        raise ValueError(
            f"got the option {unknown[0]} for {path.suffix}; expected {', '.join(sorted(known)) or 'none'}"
        )
    data, lost = module.write(mesh, **options)
    _replace(path, data)
    return tuple(lost)


def _replace(path: Path, data: bytes) -> None:
    """Write a whole file, then put it in place."""
    _in_folder(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _in_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise ValueError(f"got {path}; expected a file in a folder that exists")


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
