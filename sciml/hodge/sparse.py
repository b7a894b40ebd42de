"""Sparse matrices whose products run fast under jit: padded rows stored by column, and a short tail for long rows."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse
import sparsax
from jaxtyping import Array, Float, Int, Int32, Num


class Pattern(eqx.Module):
    """Where the entries of a sparse matrix are: `index[j, i]` is the column of the j-th entry of row i.

    Rows have up to `width` entries there, padded with entries of value zero on the diagonal (or in column 0); what a
    long row has more is in the tail. `size` is the number of places, padding and tail included.
    """

    index: Int32[Array, "_w _n"]
    tail_row: Int32[Array, " _t"]
    tail_column: Int32[Array, " _t"]
    columns: int = eqx.field(static=True)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.index.shape[1]

    @property
    def size(self) -> int:
        """Number of places for values."""
        return self.index.size + len(self.tail_row)


def pattern(
    rows: Int[np.ndarray, " m"], columns: Int[np.ndarray, " m"], shape: tuple[int, int]
) -> tuple[Pattern, Int32[np.ndarray, " m"]]:
    """The pattern of entries given by row and column, and the place of each; entries of one place share it."""
    from meshes.tables import unique_inverse

    after = np.where(columns == rows, 0, columns + 1)  # the diagonal first, so that it is never in the tail
    first, inverse = unique_inverse(rows.astype(np.int64) * (shape[1] + 1) + after)
    row, column = rows[first], columns[first]
    count = np.bincount(row, minlength=shape[0])
    width = _width(count)
    rank = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    inside = rank < width
    diagonal = np.arange(shape[0]) if shape[0] == shape[1] else np.zeros(shape[0], np.int64)
    index = np.broadcast_to(diagonal, (width, shape[0])).astype(np.int32)
    index[rank[inside], row[inside]] = column[inside]
    place = np.empty(len(row), np.int64)
    place[inside] = rank[inside] * shape[0] + row[inside]
    place[~inside] = width * shape[0] + np.arange(int(np.sum(~inside)))
    made = Pattern(
        jnp.asarray(index),
        jnp.asarray(row[~inside].astype(np.int32)),
        jnp.asarray(column[~inside].astype(np.int32)),
        shape[1],
    )
    return made, place[inverse].astype(np.int32)


def _width(count: np.ndarray) -> int:
    """The width of least cost, an entry of the tail costing as much as eight padded ones."""
    most = int(count.max(initial=1))
    longer = np.cumsum(np.bincount(count, minlength=most + 1)[::-1])[::-1]  # rows of at least so many entries
    tail = np.concatenate([np.cumsum(longer[::-1])[::-1][1:], [0]])  # entries beyond each width
    return max(1, int(np.argmin(np.arange(most + 1) * len(count) + 8 * tail)))


class Sparse(eqx.Module):
    """A sparse matrix: a pattern and its values (those of the padding are zero)."""

    pattern: Pattern
    value: Num[Array, "_w _n"]
    tail: Num[Array, " _t"]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.pattern.rows, self.pattern.columns

    def __matmul__(self, x: Float[Array, "n *b"]) -> Float[Array, "_m *b"]:
        """Product with a vector, or with each of several (columns)."""
        lift = (slice(None), *(None,) * (x.ndim - 1))
        y = jnp.zeros((self.pattern.rows, *x.shape[1:]), x.dtype)
        for index, value in zip(self.pattern.index, self.value, strict=True):
            y = y + value.astype(x.dtype)[lift] * x[index]
        if len(self.tail):
            more = self.tail.astype(x.dtype)[lift] * x[self.pattern.tail_column]
            y = y.at[self.pattern.tail_row].add(more)
        return y

    def entries(self) -> tuple[Int32[Array, " _s"], Int32[Array, " _s"], Num[Array, " _s"]]:
        """All places as row, column and value; padding has value zero."""
        width, rows = self.pattern.index.shape
        row = jnp.concatenate([jnp.tile(jnp.arange(rows, dtype=jnp.int32), width), self.pattern.tail_row])
        column = jnp.concatenate([self.pattern.index.ravel(), self.pattern.tail_column])
        return row, column, jnp.concatenate([self.value.ravel(), self.tail])

    def scipy(self) -> Any:
        """The same matrix as a SciPy CSR array."""
        row, column, value = map(np.asarray, self.entries())
        real = value != 0
        made = scipy.sparse.coo_array((value[real], (row[real], column[real])), shape=self.shape)
        return made.tocsr()


def sparse(pattern: Pattern, values: Num[Array, " s"]) -> Sparse:
    """The matrix of a pattern and the values at its places."""
    inside = pattern.index.size
    return Sparse(pattern, values[:inside].reshape(pattern.index.shape), values[inside:])


def assembled(pattern: Pattern, place: Int32[Array, " m"], entries: Float[Array, " m"]) -> Sparse:
    """The matrix that adds up local entries at their places."""
    return sparse(pattern, jnp.zeros(pattern.size, entries.dtype).at[place].add(entries))


def restricted(matrix: Sparse, keep: Num[Array, " n"] | Any) -> Sparse:
    """A square matrix on the kept unknowns, the identity on the others."""
    weight = keep.astype(matrix.value.dtype)
    value = matrix.value * weight * weight[matrix.pattern.index]
    tail = matrix.tail * weight[matrix.pattern.tail_row] * weight[matrix.pattern.tail_column]
    value = value.at[0].add(1 - weight)  # the diagonal is first in every row
    return Sparse(matrix.pattern, value, tail)


def definite_solve(matrix: Sparse, right: Float[Array, "n *b"]) -> Float[Array, "n *b"]:
    """The solution for a positive definite matrix, by CHOLMOD, with derivatives in its values and right-hand sides.

    The factor is kept for the next solve with the same values. Raises ValueError unless in double precision.
    """
    if matrix.value.dtype != jnp.float64:
        raise ValueError(
            f"got a complex in {matrix.value.dtype}; expected double precision, which sparse factorisations need: "
            "jax.config.update('jax_enable_x64', True) before build()"
        )
    row, column, value = jax.lax.stop_gradient(matrix.entries())
    flat = right.reshape(right.shape[0], -1)
    found = jax.lax.custom_linear_solve(
        lambda x: matrix @ x, flat, lambda _, b: sparsax.solve(row, column, value, b), symmetric=True
    )
    return found.reshape(right.shape)
