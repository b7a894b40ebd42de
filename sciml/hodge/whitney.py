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
            minors = [a[:, i] * b[:, j] - a[:, j] * b[:, i] for i, j in itertools.combinations(range(a.shape[1]), 2)]
            square = sum(m**2 for m in minors)
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
    rows = [[None] * len(names) for _ in names]
    for i, one in enumerate(names):
        for j, other in enumerate(names[: i + 1]):
            total = jnp.zeros_like(geometry.volume)
            for a, b in itertools.product(range(face + 1), repeat=2):
                minor = _minor(geometry.gram, one[:a] + one[a + 1 :], other[:b] + other[b + 1 :])
                total = total + (-1) ** (a + b) * (1 + (one[a] == other[b])) * minor
            rows[i][j] = rows[j][i] = total * geometry.volume * scale
    return jnp.stack([jnp.stack(row, axis=1) for row in rows], axis=1)


def _minor(gram: Float[Array, "m c c"], rows: tuple[int, ...], columns: tuple[int, ...]) -> Float[Array, " m"]:
    """Determinant of the given rows and columns (at most 2)."""
    match len(rows):
        case 0:
            return jnp.ones_like(gram[:, 0, 0])
        case 1:
            return gram[:, rows[0], columns[0]]
        case _:
            return (
                gram[:, rows[0], columns[0]] * gram[:, rows[1], columns[1]]
                - gram[:, rows[0], columns[1]] * gram[:, rows[1], columns[0]]
            )


def local_stiffness(geometry: Geometry, face: int) -> Float[Array, "m f f"]:
    """d' M d on each cell: inner products of the differentials of the Whitney forms of one degree."""
    degree = geometry.gram.shape[1] - 1
    local = local_differential(degree, face)
    return jnp.einsum("ai,mab,bj->mij", local, local_mass(geometry, face + 1), local)


def local_differential(degree: int, face: int) -> np.ndarray:
    """The differential from p-faces to (p + 1)-faces of one simplex, of entries -1, 0 and 1."""
    low = {name: i for i, name in enumerate(faces(degree, face))}
    high = faces(degree, face + 1)
    matrix = np.zeros((len(high), len(low)))
    for row, name in enumerate(high):
        for i in range(len(name)):
            matrix[row, low[name[:i] + name[i + 1 :]]] = (-1) ** i
    return matrix
