"""Numbers in text files: parsed in one sweep, with the line of anything that is wrong."""

import warnings
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

_SPACE = np.zeros(256, bool)
_SPACE[list(b" \t\r\n\v\f")] = True


class Numbers(NamedTuple):
    """All numbers of a piece of text in order, and the line each stands on (counted from 1 in the file)."""

    values: Float64[np.ndarray, " _n"]
    line: Int64[np.ndarray, " _n"]


def numbers(text: bytes, first_line: int) -> Numbers:
    """The numbers of a text whose first line has the given number; ValueError names the line of what is none."""
    raw = np.frombuffer(text, np.uint8)
    space = _SPACE[raw]
    start = np.flatnonzero(~space & np.concatenate([[True], space[:-1]])) if len(raw) else np.zeros(0, np.int64)
    breaks = np.flatnonzero(raw == ord("\n"))
    line = np.searchsorted(breaks, start) + first_line
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # text that is not numbers is reported by a warning
            values = np.fromstring(text, sep=" ") if len(start) else np.zeros(0)
    except (DeprecationWarning, ValueError):
        values = np.zeros(0)
    if len(values) != len(start):
        _blame(text, line)
    return Numbers(values, line)


def _blame(text: bytes, line: np.ndarray) -> None:
    """Raise for the first token that is not a number."""
    for number, token in enumerate(text.split()):
        try:
            float(token)
        except ValueError:
            raise ValueError(f"line {line[number]}: got {show(token)}; expected a number") from None
    raise ValueError(f"line {line[0] if len(line) else 1}: got text that is not numbers; expected numbers")


def show(token: bytes) -> str:
    """A token for a message, short and printable."""
    text = token.decode("ascii", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:37] + "...")


def whole(values: Float64[np.ndarray, "*s"], line: Int64[np.ndarray, "*s"], what: str) -> Int64[np.ndarray, "*s"]:
    """Values as integers; ValueError with the line of the first that is none."""
    bad = ~(np.abs(values) < 2.0**53) | (values != np.floor(np.where(np.isfinite(values), values, 0.5)))
    if bad.any():
        at = tuple(index[0] for index in np.nonzero(bad))
        raise ValueError(f"line {line[at]}: got {what} {values[at]:g}; expected a whole number")
    return values.astype(np.int64)


def without_comments(data: bytes, mark: bytes = b"#") -> bytes:
    """Text with everything from a comment mark to the end of its line left out, line breaks kept."""
    if mark not in data:
        return data
    return b"\n".join(line.split(mark, 1)[0] for line in data.split(b"\n"))


def by_line(line: Int64[np.ndarray, " _n"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For ascending line numbers of tokens: the lines, where each starts, and how many tokens it has."""
    start = np.flatnonzero(np.diff(line, prepend=-1))
    return line[start], start, np.diff(start, append=len(line))


def ragged(found: Numbers, count: int, what: str) -> tuple[dict[int, tuple[np.ndarray, np.ndarray]], int]:
    """`count` rows "k i_1 ... i_k [more]", one a line: for every k, indices and row numbers; and how many were extra.

    Raises ValueError for missing rows, and for rows shorter than they say.
    """
    lines, start, tokens = by_line(found.line)
    if len(lines) < count:
        raise ValueError(f"got {len(lines)} {what}; expected {count}, as the header says")
    lines, start, tokens = lines[:count], start[:count], tokens[:count]
    size = whole(found.values[start], lines, f"{what[:-1]} size")
    if np.any(bad := (size < 1) | (size >= tokens)):
        at = np.flatnonzero(bad)[0]
        raise ValueError(f"line {lines[at]}: got a row that says {size[at]} corners and has {tokens[at] - 1}")
    rows = {}
    for k in np.unique(size):
        member = np.flatnonzero(size == k)
        place = start[member, None] + 1 + np.arange(k)
        rows[int(k)] = (whole(found.values[place], found.line[place], "index"), member)
    return rows, int(np.sum(tokens - 1 - size))
