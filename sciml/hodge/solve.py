"""Sparse direct solves with the stiffness matrices of a complex, their kernels removed by topology."""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32

from meshes.manifold import spanning_forest
from meshes.tables import cofacets
from meshes.topology import gauge
from sciml.hodge.complex import Complex, check_cochain, edge_lengths, numpy_part, numpy_tables
from sciml.hodge.operators import masked
from sciml.hodge.sparse import definite_solve, restricted


class Cohomology(NamedTuple):
    """What topology says of a complex, found once on the host in exact integers and handed to the verbs.

    `free[p]` are simplices of degree p on which d' M d is definite: the others fix a cochain up to closed ones.
    `cocycles` are integer generators of the first cohomology, one on their own edge of `loops` and zero on the others'.
    """

    free: tuple[Bool[Array, " _n"], ...]
    cocycles: Float[Array, "_b _e"]
    loops: Int32[Array, " _b"]


def cohomology(complex_: Complex) -> Cohomology:
    """The first cohomology and the gauges of a complex: a vertex a component; a spanning forest and an edge a loop.

    For faces of tetrahedra: all but a spanning forest of the dual graph. Raises ValueError where a face has three or
    more tetrahedra.
    """
    made, gone = numpy_tables(complex_), numpy_part(complex_)
    free = [~np.asarray(complex_.pins) & ~gone[0]]
    found = gauge(made, gone)
    if complex_.degree > 1:
        edges = ~(found.tree | gone[1])
        edges[found.pins] = False
        free.append(edges)
    if complex_.degree > 2:
        free.append(_dual_forest(made, gone))
    return Cohomology(tuple(map(jnp.asarray, free)), jnp.asarray(found.cocycles, float), jnp.asarray(found.pins))


def _dual_forest(made, gone: tuple[np.ndarray, ...]) -> np.ndarray:
    """Faces crossed by a spanning forest of the dual graph: cells, and the outside beyond faces of one cell."""
    count = cofacets(made)
    if np.any(count > 2):
        bad = made.simplices[2][np.flatnonzero(count > 2)[0]].tolist()
        raise ValueError(f"got face {bad} of three or more tetrahedra; expected a mesh whose faces have at most two")
    cells, top = len(made.simplices[-1]), made.facets[-1]
    order = np.argsort(top.ravel(), kind="stable") // top.shape[1]
    at = np.cumsum(count) - count
    face = np.flatnonzero(~gone[2])
    one = order[at[face]]
    other = np.where(count[face] == 2, order[np.minimum(at[face] + 1, len(order) - 1)], cells)
    mask = np.zeros(len(count), bool)
    mask[face[spanning_forest(cells + 1, one, other)]] = True
    return mask


def potential(
    complex_: Complex, found: Cohomology, functional: Float[Array, "n *b"], degree: int
) -> Float[Array, "n *b"]:
    """Some w with d' M d w = functional, for functionals that vanish on closed cochains; zero off the gauge.

    A sparse Cholesky factorisation (CHOLMOD through sparsax) on the free simplices and one step of refinement, which
    makes d w right to rounding however the gauge is conditioned.
    """
    matrix = complex_.stiffness[degree]
    free = found.free[degree]
    definite = restricted(matrix, free)
    first = definite_solve(definite, _on(free, functional))
    return first + definite_solve(definite, _on(free, functional - matrix @ first))


def _on(free: Bool[Array, " n"], values: Float[Array, "n *b"]) -> Float[Array, "n *b"]:
    return values * free.reshape(free.shape + (1,) * (values.ndim - 1)).astype(values.dtype)


@contextlib.contextmanager
def positive_definite() -> Iterator[None]:
    """Turn the failure of a factorisation into a ValueError that says what to do."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "not positive definite" not in str(error):
            raise
        raise ValueError(
            "got inner products that are not positive definite (circumcentric stars on a mesh that is not Delaunay, or "
            "cells flat to rounding); expected Whitney masses on cells with a measure: see meshes.check"
        ) from None


class Solved(NamedTuple):
    """The solution, and the defect of the right-hand side: the largest mean it had where it may have none."""

    values: Float[Array, "_n *_b"]
    defect: Float[Array, "*_b"]


def poisson(complex_: Complex, found: Cohomology, source: Float[Array, "n *b"]) -> Solved:
    """The function u of mean zero with d' M d u = M f, for f less its mean on components without essential values.

    Pure, for use under jit, vmap and grad: gradients with respect to f have mean zero. `defect` is the largest absolute
    mean that was taken off.
    """
    fitting, means = _less_means(complex_, source)
    functional = masked(complex_, complex_.mass[0] @ fitting, 0)
    values, _ = _less_means(complex_, potential(complex_, found, functional, 0))
    return Solved(values, jnp.max(jnp.abs(means), axis=0, initial=0.0))


def _less_means(complex_: Complex, values: Float[Array, "n *b"]) -> tuple[Float[Array, "n *b"], Float[Array, "c *b"]]:
    """Values less their mean on each component without a vertex of the part, and these means."""
    sums = lambda x: jax.ops.segment_sum(x, complex_.component, complex_.components)  # noqa: E731
    weight = complex_.mass[0] @ jnp.ones_like(values)
    free = sums(complex_.pins.astype(values.dtype))
    free = free.reshape(free.shape + (1,) * (values.ndim - 1))
    whole = sums(weight)
    means = jnp.where((free > 0) & (whole > 0), sums(weight * values) / jnp.where(whole > 0, whole, 1), 0.0)
    return values - means[complex_.component], means


def _interpolation_error(complex_: Complex) -> float:
    """The square of the longest edge over the size: what the mean of an interpolated function may be off by."""
    lengths = edge_lengths(complex_)
    size = jnp.sum(lengths) if complex_.lengths is not None else jnp.max(jnp.ptp(complex_.points, axis=0))
    return float(jnp.max(lengths) / size) ** 2


@eqx.filter_jit
def _poisson(complex_: Complex, found: Cohomology, source: Float[Array, "n *b"]) -> Solved:
    return poisson(complex_, found, source)


def solve(
    complex_: Complex,
    source: Float[Array, "n *b"],
    *,
    tolerance: float | None = None,
    found: Cohomology | None = None,
) -> Solved:
    """The function u with -laplacian(u) = f weakly, d' M d u = M f; natural conditions, or zero on the part.

    Raises ValueError where f has a mean on a component without essential values of more than `tolerance` times its
    size: no flux leaves to balance it. The default is the square of the longest edge over the size of the mesh, by
    which the mean of an interpolated function may be off.

    >>> import meshes, jax.numpy as jnp
    >>> from sciml.hodge import build, solve
    >>> K = build(meshes.square(8))
    >>> bool(abs(solve(K, jnp.cos(jnp.pi * K.points[:, 0])).values.mean()) < 1e-2)
    True
    """
    check_cochain(complex_, source, 0)
    with positive_definite():
        solved = jax.block_until_ready(_poisson(complex_, cohomology(complex_) if found is None else found, source))
    size = float(jnp.max(jnp.abs(source), initial=0.0))
    tolerance = _interpolation_error(complex_) if tolerance is None else tolerance
    worst = float(jnp.max(solved.defect, initial=0.0))
    if worst > tolerance * size:
        raise ValueError(
            f"got a source with mean {worst:.6g} on a component without essential values; expected mean zero, since no "
            f"flux leaves it: no solution exists (defect {worst:.6g})"
        )
    return solved
