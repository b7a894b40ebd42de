"""Residuals of a few known fields at fixed random points: what the checks look at."""

from collections.abc import Mapping
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from sciml.field import Field
from sciml.problem import Problem, evaluate, exact_solution, sample

POINTS = 512


def constant(problem: Problem, value: float) -> Field:
    """The Field of one value, with the problem's components."""
    many = len(problem.components)
    return lambda x: jnp.full((many,) if many > 1 else (), value, x.dtype)


def smooth(problem: Problem, seed: int) -> Field:
    """A fixed smooth field of order one, not periodic, not symmetric."""
    many, dims = len(problem.components), len(problem.domain.names)
    rng = np.random.default_rng(seed)
    wave, phase = rng.uniform(0.5, 2, (max(many, 1), dims)), rng.uniform(0, 6, max(many, 1))
    lower, width = problem.domain.lower, problem.domain.upper - problem.domain.lower

    def field(x):
        values = jnp.sin(jnp.asarray(wave, x.dtype) @ ((x - lower) / width) + jnp.asarray(phase, x.dtype)) + 0.3
        return values if many > 1 else values[0]

    return field


class Probe(NamedTuple):
    """Residuals of known fields at the same points; ``exact`` and ``doubled`` are empty without an exact solution."""

    points: dict[str, Array]
    zero: dict[str, Array]
    first: dict[str, Array]
    second: dict[str, Array]
    shifted: dict[str, Array]
    exact: dict[str, Array]
    doubled: dict[str, Array]
    values: dict[str, Array]


@eqx.filter_jit
def take_probe(problem: Problem) -> Probe:
    """One compiled evaluation of everything the check needs at random points."""
    points = sample(problem, dict.fromkeys(problem.groups, POINTS), key=jax.random.key(0))
    first, exact = smooth(problem, 1), exact_solution(problem)
    dims = len(problem.domain.names)
    values = {g: jax.vmap(lambda x: jnp.atleast_1d(first(x[:dims])))(z) for g, z in points.items()}
    return Probe(
        points=points,
        zero=evaluate(problem, constant(problem, 0.0), points),
        first=evaluate(problem, first, points),
        second=evaluate(problem, smooth(problem, 2), points),
        shifted=evaluate(problem, lambda x: first(x) + 1.0, points),
        exact={} if exact is None else evaluate(problem, exact, points),
        doubled={} if exact is None else evaluate(problem, lambda x: 2 * exact(x), points),
        values=values,
    )


@eqx.filter_jit
def residuals_of(problem: Problem, u: Field, points: Mapping[str, Array]) -> dict[str, Array]:
    """Residuals of a Field, compiled."""
    return evaluate(problem, u, points)


def coordinates(x: Array) -> str:
    """A point in words."""
    return "(" + ", ".join(f"{float(v):.6g}" for v in x) + ")"


def tolerance(dtype) -> float:
    """Relative size below which a residual counts as rounding: derivatives of order four lose half the digits."""
    return float(jnp.finfo(dtype).eps) ** 0.5
