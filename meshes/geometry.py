"""Sizes, shapes and duals of cells, scaled so that neither tiny nor huge coordinates matter."""

import dataclasses
import itertools

import numpy as np
from jaxtyping import Float64, Int

from meshes.manifold import corners
from meshes.mesh import Mesh
from meshes.tables import Tables, tables

EPS = float(np.finfo(np.float64).eps)


def scaled(mesh: Mesh) -> tuple[Mesh, float]:
    """The mesh moved and shrunk to a box of largest side 1 about the origin, and that side (1 for a single place).

    The side overflows to infinity for coordinates near the largest number; the shrunk mesh is still right.
    """
    if mesh.lengths is not None:
        unit = float(mesh.lengths.max())
        return dataclasses.replace(mesh, lengths=mesh.lengths / unit), unit
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    half = float(np.max(high / 2 - low / 2)) or 0.5
    return dataclasses.replace(mesh, points=(mesh.points / 2 - (low / 4 + high / 4)) / half), 2 * half


def flat_points(mesh: Mesh) -> np.ndarray:
    """Points, without a third coordinate that is the same everywhere on a mesh of triangles."""
    flat = mesh.degree == 2 and mesh.points.shape[1] == 3 and np.ptp(mesh.points[:, 2]) == 0
    return mesh.points[:, :2] if flat else mesh.points


def edge_lengths(mesh: Mesh, made: Tables) -> Float64[np.ndarray, " _e"]:
    """Lengths of the edges, in the order of the tables: given ones, or those between points."""
    if mesh.lengths is not None:
        return mesh.lengths
    tail, head = mesh.points[made.simplices[1]].transpose(1, 0, 2)
    return np.sqrt(np.sum((head - tail) ** 2, axis=1))


def measures(points: Float64[np.ndarray, "n d"], cells: Int[np.ndarray, "m k"]) -> Float64[np.ndarray, " m"]:
    """Length, area or volume of each cell; signed where the cells have the dimension d of space (1, 2 or 3).

    In two dimensions a triangle counted counter-clockwise is positive, in three det(p1 - p0, p2 - p0, p3 - p0) / 6.
    """
    sides = [points[cells[:, i]] - points[cells[:, 0]] for i in range(1, cells.shape[1])]
    match len(sides), points.shape[1]:
        case 1, 1:
            return sides[0][:, 0]
        case 2, 2:
            (x, y), (u, v) = sides[0].T, sides[1].T
            return (x * v - y * u) / 2
        case 3, 3:
            return np.einsum("ij,ij->i", sides[0], np.cross(sides[1], sides[2])) / 6
        case 1, _:
            return np.linalg.norm(sides[0], axis=1)
        case 2, 3:
            return np.linalg.norm(np.cross(sides[0], sides[1]), axis=1) / 2
        case _:
            return _by_lengths(np.stack([_distance(points, cells, i, j) for i, j in _pairs(cells.shape[1])], axis=1))


def _pairs(width: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(width), 2))


def _distance(points: np.ndarray, cells: np.ndarray, i: int, j: int) -> np.ndarray:
    return np.linalg.norm(points[cells[:, i]] - points[cells[:, j]], axis=1)


def _by_lengths(lengths: Float64[np.ndarray, "m e"]) -> Float64[np.ndarray, " m"]:
    """Measures from edge lengths (pairs of corners in lexicographic order); 0 where the triangle inequality fails.

    Triangles by the stable form of Heron's formula (W. Kahan, "Miscalculating area and angles of a needle-like
    triangle", 2014), tetrahedra by the Gram determinant of the edges from the first corner.
    """
    if lengths.shape[1] == 1:
        return lengths[:, 0]
    if lengths.shape[1] == 3:
        c, b, a = np.sort(lengths, axis=1).T
        return np.sqrt(np.maximum((a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c)), 0)) / 4
    square = {pair: lengths[:, e] ** 2 for e, pair in enumerate(_pairs(4))}
    gram = np.empty((len(lengths), 3, 3))
    for i, j in itertools.product(range(1, 4), repeat=2):
        gram[:, i - 1, j - 1] = (square[0, i] + square[0, j] - (0 if i == j else square[min(i, j), max(i, j)])) / 2
    return np.sqrt(np.maximum(np.linalg.det(gram), 0)) / 6


def cell_lengths(mesh: Mesh, made: Tables) -> Float64[np.ndarray, "_m _e"]:
    """Lengths of the edges of each simplex of degree k, pairs of its ascending corners in lexicographic order."""
    return edge_lengths(mesh, made)[corners(made, 1)]


def cell_measures(mesh: Mesh) -> Float64[np.ndarray, " _m"]:
    """Measure of each cell as listed, signed where k = d; from the edge lengths where the mesh has them."""
    if mesh.lengths is None:
        return measures(mesh.points, mesh.cells)
    made = tables(mesh)
    return _by_lengths(cell_lengths(mesh, made))[made.cell]


def quality(points: Float64[np.ndarray, "n d"], cells: Int[np.ndarray, "m k"]) -> Float64[np.ndarray, " m"]:
    """Shape of cells, free of scale: 1 for a regular simplex, 0 for a flat one, with the sign of the measure.

    Triangles 4 sqrt(3) A / (a^2 + b^2 + c^2), tetrahedra 6 sqrt(2) V / l_rms^3, edges 1 or -1.
    """
    lengths = np.stack([_distance(points, cells, i, j) for i, j in _pairs(cells.shape[1])], axis=1)
    return _quality(measures(points, cells), lengths)


def quality_by_lengths(lengths: Float64[np.ndarray, "m e"]) -> Float64[np.ndarray, " m"]:
    """The same from edge lengths."""
    return _quality(_by_lengths(lengths), lengths)


def _quality(measure: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    degree = {1: 1, 3: 2, 6: 3}[lengths.shape[1]]
    ideal = {1: 1.0, 2: np.sqrt(3) / 4, 3: np.sqrt(2) / 12}[degree]
    size = np.sqrt(np.mean(lengths**2, axis=1))
    whole = ideal * size**degree
    return np.divide(measure, whole, out=np.zeros(len(size)), where=whole > 0)


def dual_lengths(mesh: Mesh, made: Tables) -> Float64[np.ndarray, " _f"]:
    """Signed circumcentric dual length of each facet, in units of the longest edge; NaN at a flat cell.

    The dual of a facet is the path from the circumcentre of one cell to that of the next, negative where they lie in
    the wrong order. For triangles it is (cot a + cot b) / 2 times the edge, so it is negative where an edge is not
    Delaunay.
    """
    lengths = cell_lengths(mesh, made)
    width, unit = made.degree + 1, lengths.max() or 1.0
    square = np.zeros((len(lengths), width, width))
    for e, (i, j) in enumerate(_pairs(width)):
        square[:, i, j] = square[:, j, i] = (lengths[:, e] / unit) ** 2
    share, height = _circumcentre(square)
    weights = (share * height).ravel()
    return np.bincount(made.facets[-1].ravel(), weights=weights, minlength=len(made.simplices[-2]))


def _circumcentre(
    square: Float64[np.ndarray, "m k k"],
) -> tuple[Float64[np.ndarray, "m k"], Float64[np.ndarray, "m k"]]:
    """Barycentric coordinates of the circumcentre and the altitudes of simplices of given squared lengths.

    The inverse of the Cayley-Menger matrix holds both: its border is proportional to the coordinates, its diagonal to
    the squares of the inverse altitudes. NaN where it is singular.
    """
    cells, width, _ = square.shape
    bordered = np.ones((cells, width + 1, width + 1))
    bordered[:, 0, 0] = 0
    bordered[:, 1:, 1:] = square
    flat = quality_by_lengths(np.sqrt(np.stack([square[:, i, j] for i, j in _pairs(width)], axis=1))) < 4 * np.sqrt(EPS)
    bordered[flat] = np.eye(width + 1)
    inverse = np.linalg.inv(bordered)
    diagonal = -2 * np.einsum("mii->mi", inverse)[:, 1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        height = 1 / np.sqrt(diagonal)
    share = inverse[:, 0, 1:]
    height[flat] = np.nan
    return share, height
