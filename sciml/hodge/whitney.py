"""Measures of cells and inner products of Whitney forms, from positions of vertices or from lengths of edges.

Source: D. Arnold, R. Falk, R. Winther, "Finite element exterior calculus, homological techniques, and applications"
(2006).
"""

import itertools
import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int


class Geometry(eqx.Module):
    """The volume of each cell, and the products of the gradients of its barycentric coordinates."""

    volume: Float[Array, " m"]
    gram: Float[Array, "m c c"]


def from_points(points: Float[Array, "n d"], cells: Int[Array, "m c"]) -> Geometry:
    """Geometry of simplices between points, in any dimension from that of the cells on."""
    sides = points[cells[:, 1:]] - points[cells[:, :1]]
    match cells.shape[1] - 1, points.shape[1]:
        case 1, _:
            square = jnp.sum(sides[:, 0] ** 2, axis=1)
            return Geometry(jnp.sqrt(square), _full(1 / square[:, None, None]))
        case 2, _:
            a, b = sides[:, 0], sides[:, 1]
            pairs = np.array(list(itertools.combinations(range(a.shape[1]), 2))).T
            minors = a[:, pairs[0]] * b[:, pairs[1]] - a[:, pairs[1]] * b[:, pairs[0]]
            square = jnp.sum(minors**2, axis=1)
            inner = jnp.stack([jnp.sum(b * b, 1), -jnp.sum(a * b, 1), -jnp.sum(a * b, 1), jnp.sum(a * a, 1)], axis=1)
            return Geometry(jnp.sqrt(square) / 2, _full((inner / square[:, None]).reshape(-1, 2, 2)))
        case 3, 3:
            a, b, c = sides.transpose(1, 0, 2)
            normal = jnp.stack([jnp.cross(b, c), jnp.cross(c, a), jnp.cross(a, b)], axis=1)
            volume = jnp.sum(a * normal[:, 0], axis=1)
            gradient = normal / volume[:, None, None]
            return Geometry(jnp.abs(volume) / 6, _full(gradient @ gradient.transpose(0, 2, 1)))
        case _:
            return _from_products(sides @ sides.transpose(0, 2, 1))


def from_lengths(lengths: Float[Array, "m e"]) -> Geometry:
    """Geometry from the lengths of the edges of each cell, corners in lexicographic pairs."""
    corners = {1: 2, 3: 3, 6: 4}[lengths.shape[1]]
    square = {pair: lengths[:, e] ** 2 for e, pair in enumerate(itertools.combinations(range(corners), 2))}
    rows = [
        [
            square[0, i] if i == j else (square[0, i] + square[0, j] - square[min(i, j), max(i, j)]) / 2
            for j in range(1, corners)
        ]
        for i in range(1, corners)
    ]
    return _from_products(jnp.stack([jnp.stack(row, axis=1) for row in rows], axis=1))


def _from_products(products: Float[Array, "m k k"]) -> Geometry:
    """Geometry from the products of the edges from the first corner."""
    degree = products.shape[1]
    determinant = jnp.linalg.det(products)
    return Geometry(jnp.sqrt(determinant) / math.factorial(degree), _full(jnp.linalg.inv(products)))


def _full(inner: Float[Array, "m k k"]) -> Float[Array, "m c c"]:
    """Products of all gradients from those without the first: gradients add up to zero."""
    border = -jnp.sum(inner, axis=1)
    corner = -jnp.sum(border, axis=1)
    top = jnp.concatenate([corner[:, None, None], border[:, None, :]], axis=2)
    return jnp.concatenate([top, jnp.concatenate([border[:, :, None], inner], axis=2)], axis=1)


def faces(degree: int, face: int) -> list[tuple[int, ...]]:
    """Corners of the faces of a simplex, in lexicographic order."""
    return list(itertools.combinations(range(degree + 1), face + 1))


def local_mass(geometry: Geometry, face: int) -> Float[Array, "m f f"]:
    """Inner products of the Whitney forms of one degree on each cell.

    w_s = p! sum_a (-1)^a l_{s_a} dl_{s_0} ^ ... (without s_a) ... ^ dl_{s_p}, products by minors of the gram matrix and
    int l_a l_b = V (1 + [a = b]) / ((k + 1) (k + 2)).
    """
    degree = geometry.gram.shape[1] - 1
    if face == degree:
        return 1 / geometry.volume[:, None, None]
    names = faces(degree, face)
    scale = math.factorial(face) ** 2 / ((degree + 1) * (degree + 2))
    # each entry is sliced once: the derivative of every slice is an array of the size of the whole
    gram = [[geometry.gram[:, i, j] for j in range(degree + 1)] for i in range(degree + 1)]
    entries: dict[tuple[int, int], Array] = {}
    for i, one in enumerate(names):
        for j, other in enumerate(names[: i + 1]):
            total = jnp.zeros_like(geometry.volume)
            for a, b in itertools.product(range(face + 1), repeat=2):
                minor = _minor(gram, one[:a] + one[a + 1 :], other[:b] + other[b + 1 :])
                total = total + (-1) ** (a + b) * (1 + (one[a] == other[b])) * minor
            entries[i, j] = entries[j, i] = total * geometry.volume * scale
    every = range(len(names))
    return jnp.stack([jnp.stack([entries[i, j] for j in every], axis=1) for i in every], axis=1)


def _minor(gram: list[list[Array]], rows: tuple[int, ...], columns: tuple[int, ...]) -> Float[Array, " m"]:
    """Determinant of the given rows and columns (at most 2)."""
    match rows, columns:
        case (), ():
            return jnp.ones_like(gram[0][0])
        case (i,), (j,):
            return gram[i][j]
        case (i, j), (k, n):
            return gram[i][k] * gram[j][n] - gram[i][n] * gram[j][k]
        case _:
            raise AssertionError


def whitney_forms(share: Float[Array, " c"], gradient: Float[Array, "c d"], face: int) -> Float[Array, "f n"]:
    """The Whitney forms of one degree at a point of a cell: coefficients of dx_i ^ dx_j ..., lexicographic.

    `share` are barycentric coordinates and `gradient` their gradients; the formula is that of `local_mass`.
    """
    names = np.array(faces(len(share) - 1, face))
    if face == 0:
        return share[:, None]
    columns = np.array(faces(gradient.shape[1] - 1, face - 1))
    rows = np.stack([np.delete(names, a, axis=1) for a in range(face + 1)], axis=1)
    minors = jnp.linalg.det(gradient[rows[:, :, None, :, None], columns[:, None, :]])
    signs = math.factorial(face) * (-1) ** np.arange(face + 1)
    return jnp.einsum("fa,fan->fn", share[names] * signs, minors)


def local_star(lengths: Float[Array, "m e"], face: int) -> Float[Array, "m f f"]:
    """What each cell adds to the signed circumcentric star of its faces of one degree, as diagonal matrices.

    The dual of a face s is made of simplices between circumcentres, one for every chain s < ... < cell; its measure is
    the product of the signed distances h between successive circumcentres over (k - p)!, and the star divides it by
    |s|. h is negative where the circumcentre of the larger face lies beyond the smaller one. Source: A. Hirani,
    "Discrete exterior calculus" (2003), with the signs of A. Hirani, K. Kalyanaraman and E. VanderZee, "Delaunay Hodge
    star" (2013).
    """
    degree = {1: 1, 3: 2, 6: 3}[lengths.shape[1]]
    pairs = {pair: e for e, pair in enumerate(faces(degree, 1))}
    parts: dict[tuple[int, ...], Geometry] = {}
    for p in range(1, degree + 1):
        for name in faces(degree, p):
            parts[name] = from_lengths(lengths[:, jnp.array([pairs[e] for e in itertools.combinations(name, 2)])])
    entries = []
    for name in faces(degree, face):
        size = parts[name].volume if face else jnp.ones_like(lengths[:, 0])
        entries.append(_dual(name, degree, parts, lengths, pairs) / math.factorial(degree - face) / size)
    return jnp.stack(entries, axis=1)[:, :, None] * jnp.eye(len(entries))


def _dual(name, degree: int, parts: dict[tuple[int, ...], Geometry], lengths: Array, pairs: dict) -> Float[Array, " m"]:
    """Sum over chains from a face to the cell of the products of signed distances between circumcentres."""
    if len(name) == degree + 1:
        return jnp.ones_like(lengths[:, 0])
    total = jnp.zeros_like(lengths[:, 0])
    for vertex in set(range(degree + 1)) - set(name):
        larger = tuple(sorted((*name, vertex)))
        gram = parts[larger].gram
        first, others = larger[0], range(1, len(larger))
        square = [lengths[:, pairs[first, larger[j]]] ** 2 for j in others]
        share = {larger[i]: sum(gram[:, i, j] * s for j, s in zip(others, square, strict=True)) / 2 for i in others}
        share[first] = 1 - sum(share.values())
        at = larger.index(vertex)
        total = total + share[vertex] / jnp.sqrt(gram[:, at, at]) * _dual(larger, degree, parts, lengths, pairs)
    return total


def local_stiffness(mass: Float[Array, "m f f"], degree: int, face: int) -> Float[Array, "m g g"]:
    """d' M d on each cell of the given degree, from the local inner products one degree above the face."""
    local = local_differential(degree, face)
    return jnp.einsum("ai,mab,bj->mij", local, mass, local)


def local_differential(degree: int, face: int) -> np.ndarray:
    """The differential from p-faces to (p + 1)-faces of one simplex, of entries -1, 0 and 1."""
    low = {name: i for i, name in enumerate(faces(degree, face))}
    high = faces(degree, face + 1)
    matrix = np.zeros((len(high), len(low)))
    for row, name in enumerate(high):
        for i in range(len(name)):
            matrix[row, low[name[:i] + name[i + 1 :]]] = (-1) ** i
    return matrix
