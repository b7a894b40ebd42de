"""Which cells hang together and how they are turned: joints, patches, fans, boundary loops."""

import dataclasses
import itertools

import numpy as np
from jaxtyping import Bool, Int, Int8
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from meshes.tables import Tables, cofacets, first_of


def components(
    nodes: int, one: Int[np.ndarray, " n"], other: Int[np.ndarray, " n"]
) -> tuple[int, Int[np.ndarray, " _m"]]:
    """Number of connected components of a graph with these edges, and the component of each node."""
    graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(nodes, nodes))
    count, label = connected_components(graph.tocsr(), directed=False)
    return int(count), label.astype(np.int64)


def spanning_forest(nodes: int, one: Int[np.ndarray, " n"], other: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Which edges of a graph form a spanning forest, breadth first in each component; loops never do."""
    _, label = components(nodes, one, other)
    _, roots = np.unique(label, return_index=True)
    # a root joined to one node of every component makes the forest one tree
    row = np.concatenate([one, np.full(len(roots), nodes)])
    column = np.concatenate([other, roots])
    graph = coo_array((np.ones(len(row), np.int8), (row, column)), shape=(nodes + 1,) * 2).tocsr()
    _, parent = breadth_first_order(graph, nodes, directed=False)
    child = np.flatnonzero((parent >= 0) & (parent < nodes))
    low, high = np.minimum(child, parent[child]), np.maximum(child, parent[child])
    key = np.minimum(one, other) * nodes + np.maximum(one, other)
    order = np.argsort(key, kind="stable")
    mask = np.zeros(len(one), bool)
    mask[order[np.searchsorted(key[order], low * nodes + high)]] = True
    return mask


@dataclasses.dataclass(frozen=True, eq=False)
class Joints:
    """Facets of exactly two cells: the facet, the cells, and the place of the vertex of each that it leaves out."""

    facet: Int[np.ndarray, " _j"]
    cells: Int[np.ndarray, "_j 2"]
    places: Int[np.ndarray, "_j 2"]

    @property
    def fit(self) -> Int8[np.ndarray, " _j"]:
        """Product of the turns of the two (ascending) cells that makes them agree across the facet: +1 or -1."""
        return np.where(self.places.sum(axis=1) % 2, np.int8(1), np.int8(-1))


def joints(tables: Tables, without: Bool[np.ndarray, " _f"] | None = None) -> Joints:
    """The facets where exactly two cells meet, those of `without` left out."""
    top, count = tables.facets[-1], cofacets(tables)
    order = np.argsort(top.ravel(), kind="stable")
    facet = np.flatnonzero(count == 2 if without is None else (count == 2) & ~without)
    at = (np.cumsum(count) - count)[facet]
    pair = np.stack([order[at], order[at + 1]], axis=1)
    return Joints(facet, pair // top.shape[1], pair % top.shape[1])


@dataclasses.dataclass(frozen=True, eq=False)
class Patches:
    """Cells (simplices of degree k) joined across facets of exactly two cells.

    `label` is the patch of each cell; `turn` is +1 or -1 such that turn * (ascending orientation) is consistent within
    each patch that can be oriented; `orientable` says which can.
    """

    label: Int[np.ndarray, " _m"]
    turn: Int8[np.ndarray, " _m"]
    orientable: Bool[np.ndarray, " _p"]


def patches(tables: Tables, joined: Joints) -> Patches:
    """Patches and their orientation, by the components of the orientation cover (two sheets, one a turn)."""
    cells = len(tables.simplices[-1])
    one, other = joined.cells.T
    count, label = components(cells, one, other)
    opposite = joined.fit < 0
    _, sheet = components(
        2 * cells,
        np.concatenate([one, one + cells]),
        np.concatenate([other + cells * opposite, other + cells * ~opposite]),
    )
    orientable = np.ones(count, bool)
    orientable[label[sheet[:cells] == sheet[cells:]]] = False
    turn = np.where(sheet[:cells] == sheet[first_of(label, count)[label]], np.int8(1), np.int8(-1))
    return Patches(label, turn, orientable)


@dataclasses.dataclass(frozen=True, eq=False)
class Fans:
    """Fans: the corners about a simplex of low degree, joined across the facets of two cells that contain it.

    `fan` is the fan of each corner (cell x corner), `owner` the simplex that each fan is about. A manifold has one fan
    about every simplex.
    """

    fan: Int[np.ndarray, "_m _c"]
    owner: Int[np.ndarray, " _f"]


def fans(tables: Tables, joined: Joints, degree: int) -> Fans:
    """Fans about the simplices of a degree from 0 to k - 2 (0 to 0 for edges, whose fans are single ends)."""
    owner = corners(tables, degree)
    cells, width = owner.shape
    number = {c: i for i, c in enumerate(itertools.combinations(range(tables.degree + 1), degree + 1))}
    # row i: corners of the facet without vertex i, in an order that both cells of the facet share
    kept = [[p for p in range(tables.degree + 1) if p != i] for i in range(tables.degree + 1)]
    shared = np.array([[number[c] for c in itertools.combinations(k, degree + 1)] for k in kept], np.int64)
    ends = (joined.cells * width)[..., None] + shared.reshape(tables.degree + 1, -1)[joined.places]
    count, fan = components(cells * width, ends[:, 0].ravel(), ends[:, 1].ravel())
    about = np.empty(count, np.int64)
    about[fan] = owner.ravel()
    return Fans(fan.reshape(cells, width), about)


def corners(tables: Tables, degree: int) -> Int[np.ndarray, "_m _c"]:
    """Number of every face of the given degree of each cell, corners in lexicographic order."""
    faces = {tuple(range(tables.degree + 1)): np.arange(len(tables.simplices[-1]))}
    for j in range(tables.degree, degree, -1):
        faces = {f[:i] + f[i + 1 :]: tables.facets[j][n, i] for f, n in faces.items() for i in range(j + 1)}
    return np.stack([faces[f] for f in itertools.combinations(range(tables.degree + 1), degree + 1)], axis=1)


def boundary_loops(tables: Tables, joined: Joints) -> tuple[int | None, str | None]:
    """Number of boundary loops of a surface, or None with the reason why loops are not defined.

    A loop passes from one boundary edge to the next through a fan, so two loops may touch in a vertex.
    """
    if tables.degree != 2:
        return None, "loops are those of surfaces"
    edge = np.flatnonzero(cofacets(tables) == 1)
    if not edge.size:
        return 0, None
    at = np.full(len(tables.simplices[1]), -1)
    at[edge] = np.arange(len(edge))
    cell, place = np.nonzero(at[tables.facets[2]] >= 0)
    number = at[tables.facets[2][cell, place]]
    others = np.array([[1, 2], [0, 2], [0, 1]])[place]
    end = fans(tables, joined, 0).fan[cell[:, None], others].ravel()
    order = np.argsort(end, kind="stable")
    _, count = np.unique(end, return_counts=True)
    if np.any(count != 2):
        return None, f"{np.sum(count != 2)} boundary edges end at an edge of three or more triangles"
    pair = np.repeat(number, 2)[order].reshape(-1, 2)
    return components(len(edge), pair[:, 0], pair[:, 1])[0], None
