"""Arrays of VTU files: text, base64 or appended data, compressed or not."""

import base64
import binascii
import lzma
import re
import xml.etree.ElementTree as ET
import zlib
from typing import NamedTuple

import numpy as np

from meshes.formats.text import numbers

DTYPES = {
    **{f"Int{8 * n}": f"i{n}" for n in (1, 2, 4, 8)},
    **{f"UInt{8 * n}": f"u{n}" for n in (1, 2, 4, 8)},
    **{"Float32": "f4", "Float64": "f8"},
}
_RATIO = 1100  # zlib and LZMA blocks that claim to grow more than this are refused before they are expanded


class File(NamedTuple):
    """What decoding an array needs to know of the file."""

    order: str
    header: np.dtype
    compressor: str
    appended: bytes
    encoding: str


def values_of(element: ET.Element, file: File) -> np.ndarray:
    """Values of a data array."""
    name, kind = element.get("Name", "Points"), DTYPES.get(element.get("type", ""))
    if kind is None:
        raise ValueError(f"got type={element.get('type')!r} of {name}; expected Int, UInt or Float with a width")
    form = element.get("format", "ascii")
    if form == "ascii":
        return numbers((element.text or "").encode("ascii", "replace"), 1).values
    if form == "binary":
        data = _decoded((element.text or "").encode("ascii", "replace"), name)
    elif form == "appended":
        data = _appended(element, file, name)
    else:
        raise ValueError(f"got format={form!r} of {name}; expected ascii, binary or appended")
    held = _expanded(data, file, name)
    dtype = np.dtype(file.order + kind)
    if len(held) % dtype.itemsize:
        raise ValueError(f"got {len(held)} bytes of {name}; expected a multiple of {dtype.itemsize}")
    return np.frombuffer(held, dtype)


def _appended(element: ET.Element, file: File, name: str) -> bytes:
    offset = element.get("offset", "")
    if not re.fullmatch(r"\d{1,15}", offset) or int(offset) > len(file.appended):
        raise ValueError(
            f"got offset={offset!r} of {name}; expected one within the {len(file.appended)} appended bytes"
        )
    data = file.appended[int(offset) :]
    return data if file.encoding == "raw" else _decoded(data, name)


def _decoded(text: bytes, name: str) -> bytes:
    """Base64 text in one or two pieces (header and data are often padded apart)."""
    text = b"".join(text.split())
    try:
        return b"".join(base64.b64decode(part, validate=True) for part in re.findall(rb"[^=]+=*", text))
    except binascii.Error as error:
        raise ValueError(f"got base64 text of {name} that does not decode ({error})") from None


def _expanded(data: bytes, file: File, name: str) -> bytes:
    """Data after its header, decompressed."""
    if not data:
        return b""
    if not file.compressor:
        (size,) = _head(data, file, 1, name)
        return _cut(data, file.header.itemsize, size, name)
    expand = {"vtkZLibDataCompressor": _zlib, "vtkLZMADataCompressor": _lzma}.get(file.compressor)
    if expand is None:
        raise ValueError(
            f"got the compressor {file.compressor}; expected vtkZLibDataCompressor or vtkLZMADataCompressor"
        )
    blocks, full, last = _head(data, file, 3, name)
    if blocks > len(data):
        raise ValueError(f"got {blocks} blocks in {len(data)} bytes of {name}; expected fewer")
    at = (3 + blocks) * file.header.itemsize
    out = []
    for number, size in enumerate(_head(data, file, 3 + blocks, name)[3:]):
        want = last if last and number == blocks - 1 else full
        if want > _RATIO * max(size, 64):
            raise ValueError(
                f"got a block of {size} bytes that says it holds {want}; expected at most {_RATIO} times as many"
            )
        out.append(expand(_cut(data, at, size, name), want, name))
        at += size
    return b"".join(out)


def _head(data: bytes, file: File, count: int, name: str) -> list[int]:
    if count * file.header.itemsize > len(data):
        raise ValueError(f"got {len(data)} bytes of {name}; expected a header of {count} numbers")
    return [int(v) for v in np.frombuffer(data, file.header, count)]


def _cut(data: bytes, at: int, size: int, name: str) -> bytes:
    if at + size > len(data):
        raise ValueError(f"got {len(data) - at} bytes of {name}; expected {size}, as its header says")
    return data[at : at + size]


def _zlib(data: bytes, want: int, name: str) -> bytes:
    try:
        return _exact(zlib.decompressobj().decompress(data, want + 1), want, name)
    except zlib.error as error:
        raise ValueError(f"got compressed data of {name} that does not expand ({error})") from None


def _lzma(data: bytes, want: int, name: str) -> bytes:
    try:
        return _exact(lzma.LZMADecompressor(memlimit=2**28).decompress(data, want + 1), want, name)
    except (lzma.LZMAError, EOFError) as error:
        raise ValueError(f"got compressed data of {name} that does not expand ({error})") from None


def _exact(data: bytes, want: int, name: str) -> bytes:
    if len(data) != want:
        raise ValueError(f"got a block of {name} that expands to other than {want} bytes, as its header says")
    return data
