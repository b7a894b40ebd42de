"""Making meshes from meshes: regular refinement, products with an interval or a circle, jittered points."""

import dataclasses
import itertools

import numpy as np
from jaxtyping import Float64, Int

from meshes.geometry import measures
from meshes.mesh import Mesh
from meshes.tables import boundary, find, numbered, tables


def refine(mesh: Mesh, pieces: int) -> Mesh:
    """Cut each edge into equal pieces and each cell into pieces^k cells of the same measure; groups follow.

    The edgewise subdivision, which fits across cells. Source: H. Edelsbrunner and D. Grayson, "Edgewise subdivision of
    a simplex" (2000). Raises ValueError for fewer than one piece and for meshes with edge lengths of their own.

    >>> import meshes
    >>> len(refine(meshes.cube(1), 3).cells)
    162
    """
    whole_number(pieces, "pieces")
    if mesh.lengths is not None:
        raise ValueError("got a mesh with edge lengths of its own; only meshes measured by their points are refined")
    if pieces == 1:
        return mesh
    made = tables(mesh)
    ascending = made.simplices[-1][made.cell]
    codes, weights, cells, carrier = _lattice(ascending, made.sign, pieces)
    first, number = numbered(codes)
    corners = ascending[carrier[first]]
    points = np.einsum("pc,pcd->pd", weights[first] / pieces, mesh.points[corners])
    groups = {}
    for name, rows in mesh.groups.items():
        if np.any(find(made.simplices[rows.shape[1] - 1], rows) < 0):
            raise ValueError(f"got group {name!r} with rows that are no simplices of the mesh; meshes.check lists them")
        groups[name] = _refined_group(np.sort(rows, axis=1), pieces, codes, number)
    return dataclasses.replace(mesh, points=points, cells=number[cells], groups=groups)


def _lattice(ascending: np.ndarray, sign: np.ndarray, pieces: int) -> tuple[np.ndarray, ...]:
    """Lattice points of all cells: their global codes, barycentric integers and carriers, and the cells over them."""
    degree = ascending.shape[1] - 1
    lattice, paths, parity = _pattern(degree, pieces)
    weights = np.tile(lattice, (len(ascending), 1))
    carrier = np.repeat(np.arange(len(ascending)), len(lattice))
    codes = np.where(weights > 0, ascending[carrier] * (pieces + 1) + weights, -1)
    cells = (np.arange(len(ascending)) * len(lattice))[:, None, None] + paths
    turn = (sign[:, None] * parity) < 0
    if degree:
        cells[turn, -2:] = cells[turn, -1:-3:-1]
    return np.sort(codes, axis=1), weights, cells.reshape(-1, degree + 1), carrier


def _pattern(degree: int, pieces: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Barycentric integers of the lattice of one simplex, its small simplices, and their parities.

    With y_i the sum of the barycentric integers from i on, the simplex is pieces >= y_1 >= ... >= y_k >= 0, cut out of
    the grid of unit cubes with each cube cut along the orders of its axes.
    """
    grid = np.array(list(itertools.product(range(pieces + 1), repeat=degree)), np.int64).reshape(-1, degree)
    inside = np.all(grid[:, 1:] <= grid[:, :-1], axis=1)
    y = grid[inside]
    at = np.full((pieces + 1,) * degree, -1)
    at[tuple(y.T)] = np.arange(len(y))
    full = np.concatenate([np.full((len(y), 1), pieces), y, np.zeros((len(y), 1), np.int64)], axis=1)
    paths, parities = [], []
    for order in itertools.permutations(range(degree)):
        corner = y[np.all(y < pieces, axis=1)]
        path = [corner]
        for axis in order:
            path.append(path[-1] + np.eye(degree, dtype=np.int64)[axis])
        number = np.stack([at[tuple(p.T)] for p in path], axis=1)
        number = number[np.all(number >= 0, axis=1)]
        paths.append(number)
        parities.append(np.full(len(number), _parity(order)))
    return full[:, :-1] - full[:, 1:], np.concatenate(paths), np.concatenate(parities)


def _parity(order: tuple[int, ...]) -> int:
    return (-1) ** sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order)))


def _refined_group(rows: np.ndarray, pieces: int, codes: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Group rows (ascending) cut like the cells they belong to."""
    if not len(rows):
        return rows
    if rows.shape[1] == 1:
        own, cells = rows * (pieces + 1) + pieces, np.arange(len(rows))[:, None]
    else:
        own, _, cells, _ = _lattice(rows, np.ones(len(rows), np.int64), pieces)
    own = np.pad(own, ((0, 0), (codes.shape[1] - own.shape[1], 0)), constant_values=-1)
    _, both = numbered(np.concatenate([codes, own]))
    lookup = np.empty(both.max() + 1, np.int64)
    lookup[both[: len(codes)]] = number
    return lookup[both[len(codes) :]][cells]


def sweep(mesh: Mesh, layers: int, closing: Int[np.ndarray, " n"] | None = None) -> Mesh:
    """Product of a mesh with the interval [0, 1] in equal layers; one more coordinate t and degree.

    With `closing`, a permutation of the vertices that maps cells to cells, the end t = 1 is glued to the start: vertex
    v at the end is vertex closing[v] at the start (the identity makes a product with a circle, which needs three
    layers).
    """
    whole_number(layers, "layers", 1 if closing is None else 3)
    count = len(mesh.points)
    made = tables(mesh)
    ascending = made.simplices[-1][made.cell]
    levels = layers + (closing is None)
    heights = np.arange(levels) / layers
    points = np.concatenate([np.tile(mesh.points, (levels, 1)), np.repeat(heights, count)[:, None]], axis=1)
    bottom = (np.arange(layers) * count)[:, None, None] + ascending
    top = bottom + count
    if closing is not None:
        top[-1] = closing[ascending]
    # the prism over (v0 < ... < vk): v0 .. vi below, vi .. vk above, turned like the cell and against its neighbours
    cells = []
    for i in range(ascending.shape[1]):
        piece = np.concatenate([bottom[..., : i + 1], top[..., i:]], axis=-1)
        turn = made.sign * (-1) ** i < 0
        piece[:, turn, -2:] = piece[:, turn, -1:-3:-1]
        cells.append(piece.reshape(-1, ascending.shape[1] + 1))
    return Mesh(points, np.concatenate(cells))


def jitter(mesh: Mesh, amount: float, *, seed: int) -> Mesh:
    """Move the vertices off the boundary at random, by at most `amount` times the shortest edge at each.

    Where a cell of the dimension of space would turn over or lose nine tenths of its measure, its vertices move less.
    """
    made = tables(mesh)
    length = np.linalg.norm(np.diff(mesh.points[made.simplices[1]], axis=1)[:, 0], axis=1)
    reach = np.full(len(mesh.points), np.inf)
    np.minimum.at(reach, made.simplices[1], length[:, None])
    reach[boundary(mesh)] = 0
    rng = np.random.default_rng(seed)
    step = rng.uniform(-1, 1, mesh.points.shape)
    step *= (amount * reach * rng.uniform(0, 1, len(step)) / np.linalg.norm(step, axis=1))[:, None]
    for _ in range(60):
        moved = dataclasses.replace(mesh, points=mesh.points + step)
        bad = _spoilt(mesh, moved)
        if not bad.any():
            return moved
        step[mesh.cells[bad]] /= 2
    return mesh


def _spoilt(mesh: Mesh, moved: Mesh) -> np.ndarray:
    """Cells that lost nine tenths of their (signed) measure."""
    before, after = measures(mesh.points, mesh.cells), measures(moved.points, mesh.cells)
    return after * np.sign(before) < 0.1 * np.abs(before)


def whole_number(value: int, what: str, least: int = 1) -> None:
    """ValueError unless value is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"got {what}={value!r}; expected a whole number of at least {least}")


def positive(value: float, what: str) -> None:
    """ValueError unless value is positive and finite."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"got {what}={value!r}; expected a positive finite number")


def mapped(mesh: Mesh, points: Float64[np.ndarray, "n _d"]) -> Mesh:
    """The mesh with its vertices elsewhere."""
    return dataclasses.replace(mesh, points=points)
