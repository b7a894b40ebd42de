"""Ranks over a prime field, in exact integers."""

import numpy as np
from jaxtyping import Int

PRIME = 2**31 - 1


Entries = Int[np.ndarray, " n"]


def rank(rows: Entries, columns: Entries, values: Entries, prime: int) -> int:
    """Rank over GF(prime) of the sparse matrix with these entries (entries of one place are added)."""
    return len(_pivots(rows, columns, values, prime))


def null_space(
    rows: Entries, columns: Entries, values: Entries, width: int, prime: int
) -> tuple[Int[np.ndarray, " _f"], Int[np.ndarray, "_f {width}"]]:
    """Columns without a pivot, and a vector of the null space over GF(prime) for each: 1 there, 0 at the others."""
    pivots = _pivots(rows, columns, values, prime)
    free = np.array([c for c in range(width) if c not in pivots], np.int64)
    vectors = np.zeros((len(free), width), np.int64)
    vectors[np.arange(len(free)), free] = 1
    for lead in sorted(pivots, reverse=True):
        for column, value in pivots[lead].items():
            if column != lead:
                vectors[:, lead] = (vectors[:, lead] - value * vectors[:, column]) % prime
    return free, vectors


def _pivots(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, prime: int) -> dict[int, dict[int, int]]:
    """Rows in echelon form by their first column, 1 there: elimination row by row by the rows with a pivot there."""
    pivots: dict[int, dict[int, int]] = {}
    for row in _distinct(rows, columns, values, prime):
        while row:
            lead = min(row)
            if lead not in pivots:
                inverse = pow(row[lead], -1, prime)
                pivots[lead] = {c: v * inverse % prime for c, v in row.items()}
                break
            factor = row[lead]
            for column, value in pivots[lead].items():
                left = (row.get(column, 0) - factor * value) % prime
                if left:
                    row[column] = left
                else:
                    row.pop(column, None)
    return pivots


def _distinct(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, prime: int) -> list[dict[int, int]]:
    """The rows that differ, as dictionaries."""
    found: dict[int, dict[int, int]] = {}
    for row, column, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        entries = found.setdefault(row, {})
        entries[column] = (entries.get(column, 0) + value) % prime
    kept = {tuple(sorted((c, v) for c, v in entries.items() if v)) for entries in found.values()}
    return [dict(entries) for entries in sorted(kept)]
