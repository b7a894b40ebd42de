"""How finely the solution has to be sampled, and what must stay constant along it."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.field import Field, derivative
from sciml.problem import Problem, exact_solution
from sciml.wellposed.probe import POINTS

_PER_PERIOD = 10  # points per period below which a note is made


@eqx.filter_jit
def _sizes(problem: Problem, exact: Field) -> Float[Array, " d_plus_1"]:
    """rms of the exact solution and of its partial derivatives."""
    dims = len(problem.domain.names)
    points = problem.domain.sample("interior", POINTS, key=jax.random.key(3))
    fields = (exact, *(derivative(exact, i) for i in range(dims)))
    return jnp.stack([jnp.sqrt(jnp.mean(jax.vmap(u)(points) ** 2)) for u in fields])


def points_per_period(problem: Problem, n: int) -> dict[str, float]:
    """Points along each coordinate in one period of the exact solution, when ``n`` points fill the domain evenly.

    The wavenumber along a coordinate is rms(du/dx) / rms(u). Empty when there is no exact solution.
    """
    exact = exact_solution(problem)
    if exact is None:
        return {}
    domain, (size, *slopes) = problem.domain, _sizes(problem, exact)
    along = n ** (1 / len(domain.names))
    widths = (domain.upper - domain.lower) / (2 * jnp.pi)
    periods = {name: float(k / size * w) for name, k, w in zip(domain.names, slopes, widths, strict=True)}
    return {name: along / p if p > 0 else float("inf") for name, p in periods.items()}


def resolution_notes(problem: Problem, n: int) -> list[str]:
    """A sentence for each coordinate along which ``n`` points give fewer than 10 points a period."""
    return [
        f"about {held:.1f} points a period along {name!r} with {n} points: use more, or march in windows"
        for name, held in points_per_period(problem, n).items()
        if held < _PER_PERIOD
    ]


def invariant_drift(problem: Problem, u: Field) -> dict[str, float]:
    """``(max - min) / max |.|`` over the domain of each of the problem's invariants, Fields constant at the solution.

    A Problem may define ``invariants(u) -> dict[str, Field]``; without it the result is empty.
    """
    if getattr(problem, "invariants", None) is None:
        return {}
    return {name: float(drift) for name, drift in _drifts(problem, u).items()}


@eqx.filter_jit
def _drifts(problem: Problem, u: Field) -> dict[str, Float[Array, ""]]:
    points = problem.domain.sample("interior", 4096, key=jax.random.key(6))
    values = {name: jax.vmap(field)(points) for name, field in problem.invariants(u).items()}  # type: ignore[attr-defined]
    tiny = jnp.finfo(points.dtype).tiny
    return {name: (jnp.max(v) - jnp.min(v)) / jnp.maximum(jnp.max(jnp.abs(v)), tiny) for name, v in values.items()}
