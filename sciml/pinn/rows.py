"""Residual rows of all groups and their Jacobian with respect to the trained parameters.

A row of group g is ``sqrt(factor_g * w_i / n_g) r_i``, so the squared norm of all rows is
``sum_g factor_g mean_i(w_i |r_i|^2)``: group factors and row weights enter nowhere else.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from sciml.field import Field
from sciml.problem import Problem, Role, evaluate, sample
from sciml.weighting.balance import mean_rule

Points = Mapping[str, Float[Array, "_n _d"]]
Residuals = dict[str, Float[Array, "_n _m"]]

_CHUNK = 256  # points a reverse pass: keeps the tape in cache


class Linearised(NamedTuple):
    """Residuals ``(n, m)`` and Jacobian ``(n, m, p)`` of every group."""

    residuals: Residuals
    jacobian: dict[str, Float[Array, "_n _m p"]]


def chunked(function: Callable, points: Float[Array, "n d"], size: int):
    """``vmap(function)(points)`` by ``size`` points at a time; traced once, the last chunk filled with repeats."""
    n = points.shape[0]
    if n <= size:
        return jax.vmap(function)(points)
    count = -(-n // size)
    filled = points[jnp.arange(count * size) % n].reshape(count, size, -1)
    found = jax.lax.map(jax.vmap(function), filled)
    return jax.tree.map(lambda a: a.reshape(count * size, *a.shape[2:])[:n], found)


def linearise(problem: Problem, rebuild: Callable, vector: Float[Array, " p"], points: Points) -> Linearised:
    """Residuals and their Jacobian, one reverse pass a residual component, ``_CHUNK`` points at a time."""

    def at_point(group, x):
        def residual(v):
            r = jnp.atleast_1d(problem.residuals(rebuild(v))[group](x))
            return r, r

        jacobian, r = jax.jacrev(residual, has_aux=True)(vector)
        return r, jacobian

    pairs = {g: chunked(lambda x, g=g: at_point(g, x), z, _CHUNK) for g, z in points.items()}
    return Linearised({g: r for g, (r, _) in pairs.items()}, {g: j for g, (_, j) in pairs.items()})


def row_scales(residuals: Residuals, weights: Mapping[str, Float[Array, " _n"]], factors: Mapping[str, Array]) -> dict:
    """``sqrt(factor_g w_i / n_g)``, shape (n, 1) a group."""
    return {g: jnp.sqrt(factors[g] * weights[g] / r.shape[0])[:, None] for g, r in residuals.items()}


def stack(scales: Mapping[str, Array], values: Mapping[str, Array]) -> Array:
    """Scaled rows of all groups, one under the other: ``(rows,)`` for residuals, ``(rows, p)`` for Jacobians."""
    scaled = [(s.reshape(s.shape + (1,) * (values[g].ndim - 2)) * values[g]) for g, s in scales.items()]
    return jnp.concatenate([v.reshape(-1, *v.shape[2:]) for v in scaled])


def rms(residuals: Residuals) -> dict[str, Float[Array, ""]]:
    """Root mean square residual of each group."""
    return {g: jnp.sqrt(jnp.mean(jnp.sum(r**2, axis=1))) for g, r in residuals.items()}


def balanced_factors(
    problem: Problem, jacobian: Mapping[str, Array], emphasis: Mapping[Role, float]
) -> dict[str, Array]:
    """Group factors that make every group's mean squared Jacobian row equal (mean rule), times the role's emphasis.

    This is the trace rule of the neural tangent kernel, taken once at the start. Source: Wang, Yu, Perdikaris, When and
    why PINNs fail to train: a neural tangent kernel perspective, 2022.
    """
    sizes = {g: jnp.mean(jnp.sum(j**2, axis=(1, 2))) for g, j in jacobian.items()}
    return {g: f * emphasis.get(problem.groups[g].role, 1.0) for g, f in mean_rule(sizes).items()}


def adaptive_sample(
    problem: Problem, model: Field, counts: Mapping[str, int], fraction: float, pool: int, *, key: PRNGKeyArray
) -> dict[str, Float[Array, "_n _d"]]:
    """Fresh points: uniform, but for equations a ``fraction`` drawn in proportion to |r| from ``pool`` times as many.

    Source: Wu, Zhu, Tan, Kartha, Lu, A comprehensive study of non-adaptive and residual-based adaptive sampling, 2023.
    """
    draw, pick = jax.random.split(key)
    equations = {g for g in counts if problem.groups[g].role is Role.EQUATION}
    wide = sample(problem, {g: n * (pool if g in equations else 1) for g, n in counts.items()}, key=draw)
    sizes = evaluate(problem, model, {g: wide[g] for g in wide if g in equations})
    chosen = {}
    for g, z in wide.items():
        n, moved = counts[g], int(fraction * counts[g])
        if g in equations and moved:
            size = jnp.linalg.norm(sizes[g], axis=1)
            share = size / jnp.maximum(jnp.sum(size), jnp.finfo(size.dtype).tiny)
            index = jax.random.choice(pick, len(z), (moved,), replace=False, p=share)
            z = jnp.concatenate([z[: n - moved], z[index]])
        chosen[g] = z[:n]
    return chosen


def weighted_loss(residuals: Residuals, factors: Mapping[str, Array], weights: Mapping[str, Array]) -> Float[Array, ""]:
    """``sum_g factor_g mean(w |r|^2)``, the squared norm of all rows."""
    return sum(
        (factors[g] * jnp.mean(weights[g] * jnp.sum(r**2, axis=1)) for g, r in residuals.items()),
        jnp.zeros((), next(iter(residuals.values())).dtype),
    )
