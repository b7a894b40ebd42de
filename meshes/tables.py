"""Derived tables of a mesh: every simplex of every degree once, and the facets of each, by sorting integer keys."""

import dataclasses
import itertools

import numpy as np
from jaxtyping import Bool, Int, Int8, Int64, Shaped

from meshes.mesh import Mesh, edge_keys


@dataclasses.dataclass(frozen=True, eq=False)
class Tables:
    """Simplices of degrees 0 .. k and their incidence.

    `simplices[j]`, of shape (n_j, j + 1), has each simplex of degree j once, its vertices ascending, rows in
    lexicographic order. `facets[j]`, of shape (n_j, j + 1), has in column i the number of the facet without vertex i;
    in the ascending orientation its sign in the boundary is (-1)^i. `cell` and `sign` map each cell of the mesh, as
    listed, to its simplex of degree k and to the parity of its listing.
    """

    simplices: tuple[Int64[np.ndarray, "_n _j"], ...]
    facets: tuple[Int64[np.ndarray, "_n _j"], ...]
    cell: Int64[np.ndarray, " _m"]
    sign: Int8[np.ndarray, " _m"]

    @property
    def degree(self) -> int:
        """Degree of the cells."""
        return len(self.simplices) - 1

    @property
    def euler(self) -> int:
        """Euler characteristic, the alternating sum of the numbers of simplices (vertices in no cell included)."""
        return sum((-1) ** j * len(s) for j, s in enumerate(self.simplices))


def tables(mesh: Mesh) -> Tables:
    """The tables of a mesh. ValueError names the first cell that repeats a vertex.

    >>> import meshes
    >>> [len(s) for s in tables(meshes.square(2)).simplices]
    [9, 16, 8]
    """
    ascending, sign = _sorted_rows(mesh.cells)
    repeats = collapsed(mesh)
    if repeats.size:
        row = mesh.cells[repeats[0]].tolist()
        raise ValueError(
            f"got cell {repeats[0]} = {row}, which repeats a vertex; expected distinct vertices: meshes.repair drops it"
        )
    simplices, facets = [np.arange(len(mesh.points))[:, None]], [np.zeros((len(mesh.points), 1), np.int64)]
    # ids of the faces of every cell, by their corner positions; a simplex is its first face and its last vertex
    ids: dict[tuple[int, ...], np.ndarray] = {(i,): ascending[:, i] for i in range(mesh.degree + 1)}
    for j in range(1, mesh.degree + 1):
        corners = list(itertools.combinations(range(mesh.degree + 1), j + 1))
        key = np.concatenate([ids[c[:-1]] * len(mesh.points) + ascending[:, c[-1]] for c in corners])
        first, inverse = unique_inverse(key)
        ids |= dict(zip(corners, inverse.reshape(len(corners), -1), strict=True))
        cell, corner = first % len(mesh.cells), first // len(mesh.cells)
        position = np.array(corners)[corner]
        simplices.append(np.take_along_axis(ascending[cell], position, axis=1))
        facets.append(_facets(ids, corners, cell, corner))
    return Tables(tuple(simplices), tuple(facets), ids[tuple(range(mesh.degree + 1))], sign)


def _facets(ids: dict, corners: list[tuple[int, ...]], cell: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Facet numbers of the simplices first met at a corner of a cell."""
    out = np.empty((len(cell), len(corners[0])), np.int64)
    for number, face in enumerate(corners):
        rows = np.flatnonzero(corner == number)
        for i in range(len(face)):
            out[rows, i] = ids[face[:i] + face[i + 1 :]][cell[rows]]
    return out


def with_cells(mesh: Mesh, rows: Int[np.ndarray, " n"]) -> Mesh:
    """The mesh with some of its cells only, and the lengths of their edges where it has lengths."""
    cells, lengths = mesh.cells[rows], mesh.lengths
    if lengths is not None:
        lengths = lengths[np.searchsorted(edge_keys(mesh.cells), edge_keys(cells))]
    return dataclasses.replace(mesh, cells=cells, lengths=lengths)


def collapsed(mesh: Mesh) -> Int[np.ndarray, " _c"]:
    """Numbers of the cells that repeat a vertex."""
    pairs = itertools.combinations(range(mesh.degree + 1), 2)
    return np.flatnonzero(np.any([mesh.cells[:, i] == mesh.cells[:, j] for i, j in pairs], axis=0))


def _sorted_rows(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows ascending, and the parity of each permutation, by a sorting network of swaps."""
    columns, odd = list(cells.T.copy()), np.zeros(len(cells), bool)
    for last in range(len(columns) - 1, 0, -1):
        for i in range(last):
            low, high = np.minimum(columns[i], columns[i + 1]), np.maximum(columns[i], columns[i + 1])
            odd ^= low != columns[i]
            columns[i], columns[i + 1] = low, high
    return np.stack(columns, axis=1), np.where(odd, np.int8(-1), np.int8(1))


def unique_inverse(key: Shaped[np.ndarray, " n"]) -> tuple[Int[np.ndarray, " _u"], Int[np.ndarray, " n"]]:
    """Index of the first of each distinct key, keys ascending, and the number of each key among the distinct ones."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.empty(len(key), bool)
    fresh[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    inverse = np.empty(len(key), np.int64)
    inverse[order] = np.cumsum(fresh) - 1
    return order[fresh], inverse


def numbered(rows: Shaped[np.ndarray, "n c"]) -> tuple[Int[np.ndarray, " _u"], Int[np.ndarray, " n"]]:
    """The first of each distinct row, and the number of each row among the distinct ones."""
    number = np.zeros(len(rows), np.int64)
    first = number[:1]
    for column in rows.T:
        _, value = unique_inverse(column)
        first, number = unique_inverse(number * (int(value.max(initial=0)) + 1) + value)
    return first, number


def find(simplices: Int[np.ndarray, "n j"], rows: Int[np.ndarray, "m j"]) -> Int[np.ndarray, " m"]:
    """Number of each row among simplices (rows ascending, in lexicographic order), -1 where it is none of them."""
    if not len(rows) or not len(simplices):
        return np.full(len(rows), -1)
    _, number = numbered(np.concatenate([simplices, np.sort(rows, axis=1)]))
    where = np.full(number.max() + 1, -1)
    where[number[: len(simplices)]] = np.arange(len(simplices))
    return where[number[len(simplices) :]]


def complement(count: int, numbers: Int[np.ndarray, " n"]) -> Int[np.ndarray, " _m"]:
    """The whole numbers below count that are not listed, ascending."""
    left = np.ones(count, bool)
    left[numbers] = False
    return np.flatnonzero(left)


def first_of(label: Int[np.ndarray, " n"], count: int) -> Int[np.ndarray, " {count}"]:
    """Place of the first of each label from 0 to count - 1, each of which occurs."""
    first = np.empty(count, np.int64)
    first[label[::-1]] = np.arange(len(label))[::-1]
    return first


def ranges(start: Int[np.ndarray, " n"], size: Int[np.ndarray, " n"]) -> Int[np.ndarray, " _m"]:
    """The whole numbers from start on, size of them, of one row after another."""
    before = np.cumsum(size) - size
    return np.repeat(start - before, size) + np.arange(int(size.sum()))


def cofacets(tables: Tables) -> Int[np.ndarray, " _n"]:
    """Number of distinct cells at every simplex of degree k - 1."""
    return np.bincount(tables.facets[-1].ravel(), minlength=len(tables.simplices[-2]))


def boundary(mesh: Mesh) -> Int64[np.ndarray, "_n _k"]:
    """Facets of exactly one cell, oriented as its boundary where cells are listed consistently; rows of vertex indices.

    >>> import meshes
    >>> len(boundary(meshes.square(2)))
    8
    """
    made = tables(mesh)
    return boundary_rows(made, np.flatnonzero(cofacets(made) == 1))


def boundary_rows(tables: Tables, facets: Int[np.ndarray, " n"]) -> Int64[np.ndarray, "n _k"]:
    """Facets, each of one cell, as rows of vertices oriented by that cell."""
    top = tables.facets[-1]
    cell = np.empty(len(tables.simplices[-2]), np.int64)
    place = np.empty_like(cell)
    for i in range(top.shape[1]):
        cell[top[:, i]], place[top[:, i]] = np.arange(len(top)), i
    sign = np.ones(len(top), np.int8)
    sign[tables.cell] = tables.sign
    rows = tables.simplices[-2][facets].copy()
    turn = np.flatnonzero(sign[cell[facets]] * (-1) ** place[facets] < 0)
    if rows.shape[1] > 1:
        rows[turn[:, None], [0, 1]] = rows[turn[:, None], [1, 0]]
    return rows


def within(tables: Tables, rows: Int[np.ndarray, "n j"], what: str) -> tuple[Bool[np.ndarray, " _s"], ...]:
    """One mask a degree: the subcomplex that the rows close to. ValueError where a row is no simplex."""
    degree = rows.shape[1] - 1
    number = find(tables.simplices[degree], rows)
    if np.any(number < 0):
        bad = rows[np.flatnonzero(number < 0)[0]].tolist()
        raise ValueError(f"got {bad} in {what}; expected simplices of the mesh")
    masks = [np.zeros(len(s), bool) for s in tables.simplices]
    masks[degree][number] = True
    for j in range(degree, 0, -1):
        masks[j - 1][tables.facets[j][masks[j]]] = True
    return tuple(masks)
