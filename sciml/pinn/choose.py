"""Which method fits a problem, in one line of reason."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from sciml.field import Field
from sciml.parameters import parameter_count
from sciml.problem import Problem, evaluate, sample

_MANY = 4000  # parameters above which a dense Jacobian step costs seconds on two cores


class Choice(NamedTuple):
    """Method name and the reason for it."""

    method: str
    why: str


def choose(problem: Problem, network: Field | None) -> Choice:
    """Features for affine residuals, Gauss-Newton for small networks, Adam for large ones."""
    if network is not None:
        size = parameter_count(network)
        if size > _MANY:
            return Choice("adam", f"the network given has {size} parameters, too many for a dense Gauss-Newton step")
        return Choice(
            "gauss-newton", f"the network given has {size} parameters, few enough for a dense Gauss-Newton step"
        )
    if is_affine(problem):
        return Choice("features", "every residual is affine in the unknown: one linear least-squares solve is enough")
    return Choice("gauss-newton", "a residual is nonlinear in the unknown: damped Gauss-Newton on a small network")


def is_affine(problem: Problem) -> bool:
    """Whether ``r(0.3 a + 0.7 b) = 0.3 r(a) + 0.7 r(b)`` at random points for two smooth fields, to rounding."""
    first, second, mixed = _affine_probe(problem)
    for g, r in mixed.items():
        size = jnp.max(jnp.abs(first[g])) + jnp.max(jnp.abs(second[g]))
        gap = jnp.max(jnp.abs(r - 0.3 * first[g] - 0.7 * second[g]))
        if not bool(gap <= 1e3 * jnp.finfo(r.dtype).eps * size):
            return False
    return True


@eqx.filter_jit
def _affine_probe(problem: Problem) -> list[dict[str, Array]]:
    """Residuals of two smooth fields and of their mixture."""
    points = sample(problem, dict.fromkeys(problem.groups, 16), key=jax.random.key(1))
    a, b = _wave(problem, 0.7), _wave(problem, 1.9)
    return [evaluate(problem, u, points) for u in (a, b, lambda x: 0.3 * a(x) + 0.7 * b(x))]


def _wave(problem: Problem, shift: float) -> Field:
    """A smooth field, periodic where the domain is, with the problem's components."""
    domain = problem.domain

    def wave(x):
        angle = 2 * jnp.pi * (x - domain.lower) / (domain.upper - domain.lower)
        values = jnp.stack([jnp.sum(jnp.cos(angle + shift * (k + 1))) + shift for k in range(len(problem.components))])
        return values if len(problem.components) > 1 else values[0]

    return wave
