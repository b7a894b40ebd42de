"""Ranks over a prime field, in exact integers."""

import numpy as np
from jaxtyping import Int

PRIME = 2**31 - 1


def rank(rows: Int[np.ndarray, " n"], columns: Int[np.ndarray, " n"], values: Int[np.ndarray, " n"], prime: int) -> int:
    """Rank over GF(prime) of the sparse matrix with these entries (entries of one place are added).

    Elimination row by row, each by the rows that hold a pivot in its columns.
    """
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
    return len(pivots)


def _distinct(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, prime: int) -> list[dict[int, int]]:
    """The rows that differ, as dictionaries."""
    found: dict[int, dict[int, int]] = {}
    for row, column, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        entries = found.setdefault(row, {})
        entries[column] = (entries.get(column, 0) + value) % prime
    kept = {tuple(sorted((c, v) for c, v in entries.items() if v)) for entries in found.values()}
    return [dict(entries) for entries in sorted(kept)]
