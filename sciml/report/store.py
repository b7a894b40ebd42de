"""One file for a pytree: a zip of .npy members and a JSON header. No pickle, sizes checked first, atomic."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

FORMAT = 1
_HEADER = "header.json"
_LONGEST_HEADER = 1 << 20


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write through a temporary file in the same folder; a reader sees the old file or the whole new one."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _is_key(leaf: Any) -> bool:
    return eqx.is_array(leaf) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def save_tree(path: Path, tree: Any, header: dict[str, Any]) -> None:
    """Array leaves of ``tree`` in order, and ``header``; everything else in the tree has to come back from code."""
    leaves = [leaf for leaf in jax.tree.leaves(tree) if eqx.is_array(leaf)]

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_HEADER, json.dumps({"format": FORMAT, "leaves": len(leaves), **header}))
            for i, leaf in enumerate(leaves):
                data = np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
                with archive.open(f"{i}.npy", "w") as member:
                    np.lib.format.write_array(member, data, allow_pickle=False)

    write_atomically(Path(path), write)


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise ValueError(f"got {path}, which cannot be read as a saved tree ({error})") from error


def read_header(path: Path) -> dict[str, Any]:
    """The JSON header of a saved tree.

    Raises:
        ValueError: not such a file, or of another format version.
    """
    with _opened(path) as archive:
        try:
            if archive.getinfo(_HEADER).file_size > _LONGEST_HEADER:
                raise ValueError("header too long")
            header = json.loads(archive.read(_HEADER))
        except (KeyError, ValueError, zipfile.BadZipFile, OSError, NotImplementedError) as error:
            raise ValueError(f"got {path}, which has no readable header ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"got {path} of another format; expected format {FORMAT}: save it again with this version")
    return header


def load_tree(path: Path, like: Any) -> Any:
    """``like`` with its array leaves replaced by the saved ones; dtypes and ranks must agree, shapes may differ.

    Raises:
        ValueError: a foreign, truncated or damaged file; leaves that do not fit ``like``.
    """
    header = read_header(path)
    leaves, structure = jax.tree.flatten(like)
    wanted = [i for i, leaf in enumerate(leaves) if eqx.is_array(leaf)]
    if header.get("leaves") != len(wanted):
        raise ValueError(
            f"got {path} with {header.get('leaves')} arrays; expected {len(wanted)}: it belongs to another model"
        )
    with _opened(path) as archive:
        for number, i in enumerate(wanted):
            leaves[i] = _member(archive, path, number, leaves[i])
    return jax.tree.unflatten(structure, leaves)


def _member(archive: zipfile.ZipFile, path: Path, number: int, like: Any) -> Any:
    """One array, after its declared size has been compared with the bytes that are there."""
    template = jax.random.key_data(like) if _is_key(like) else like
    try:
        info = archive.getinfo(f"{number}.npy")
        if info.file_size != info.compress_size or info.file_size > path.stat().st_size:
            raise ValueError("its size is not that of a stored member")
        with archive.open(info) as member:
            version = np.lib.format.read_magic(member)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
            shape, _, dtype = read(member)
            if dtype.hasobject or int(np.prod(shape, dtype=object)) * dtype.itemsize != info.file_size - member.tell():
                raise ValueError(f"declares shape {shape} of {dtype}, which is not what the file holds")
        with archive.open(info) as member:
            data = np.lib.format.read_array(member, allow_pickle=False)
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise ValueError(f"got {path}, whose array {number} is damaged ({error})") from error
    if data.dtype != template.dtype or data.ndim != template.ndim:
        raise ValueError(
            f"got {path}, whose array {number} is {data.dtype} of rank {data.ndim}; expected {template.dtype} of rank "
            f"{template.ndim}: it belongs to another model or precision"
        )
    return jax.random.wrap_key_data(jnp.asarray(data)) if _is_key(like) else jnp.asarray(data)
