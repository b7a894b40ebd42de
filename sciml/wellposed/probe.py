"""Residuals of a few known fields at fixed random points: what the checks look at."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sciml.domain import Domain
from sciml.field import Field
from sciml.problem import Problem, Role, evaluate, exact_solution, sample

POINTS = 512


class Waves(eqx.Module):
    """Smooth field ``offset + amplitude sin(wave . x + phase)``, x scaled to the domain's box; a scalar when m = 1."""

    wave: Float[Array, "*k m d"]
    phase: Float[Array, "*k m"]
    amplitude: Float[Array, "*k"]
    offset: Float[Array, "*k"]
    lower: Float[Array, "*k d"]
    upper: Float[Array, "*k d"]

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, "..."]:
        unit = (x - self.lower) / (self.upper - self.lower)
        values = self.offset + self.amplitude * jnp.sin(self.wave @ unit + self.phase)
        return values if len(self.phase) > 1 else values[0]


class Recipe(NamedTuple):
    """A member of ``waves``, with 0.5 to 2 times the fineness in radians across the box, or whole turns if periodic."""

    seed: int
    fineness: float = 1.0
    amplitude: float = 1.0
    offset: float = 0.3


def waves(problem: Problem, recipes: Sequence[Recipe]) -> Waves:
    """A stack of fields, periodic where the domain is: under ``jax.vmap`` one compiled evaluation serves them all."""
    box, shape = (problem.domain.lower, problem.domain.upper), (len(problem.components), len(problem.domain.names))
    draws = [np.random.default_rng(r.seed) for r in recipes]
    wave = [r.fineness * rng.uniform(0.5, 2, shape) for r, rng in zip(recipes, draws, strict=True)]
    wave = np.where(problem.domain.periodic, 2 * np.pi * np.maximum(np.round(wave), 1), wave)
    phase = [rng.uniform(0, 6, shape[0]) for rng in draws]
    numbers = (wave, phase, [r.amplitude for r in recipes], [r.offset for r in recipes])
    ends = (jnp.broadcast_to(end, (len(recipes), shape[1])) for end in box)
    return Waves(*(jnp.asarray(np.asarray(v), box[0].dtype) for v in numbers), *ends)


def constant(problem: Problem, value: float) -> Field:
    """The Field of one value, with the problem's components."""
    many = len(problem.components)
    return lambda x: jnp.full((many,) if many > 1 else (), value, x.dtype)


ZERO = Recipe(0, amplitude=0.0, offset=0.0)
_FIELDS = {
    "zero": ZERO,
    "first": Recipe(1),
    "second": Recipe(2),
    "shifted": Recipe(1, offset=1.3),
    "fine": Recipe(3, fineness=40.0, offset=0.0),
}


class _Raised(eqx.Module):
    """``u + (t - start)^order u(., start)``: at the start, u with only the time derivative of that order changed."""

    field: Field
    start: Float[Array, ""]
    order: int = eqx.field(static=True)

    def __call__(self, x):
        return self.field(x) + (x[-1] - self.start) ** self.order * self.field(x.at[-1].set(self.start))


class Probe(NamedTuple):
    """Points a group and the residuals there of known fields, as NumPy arrays ``(n, m)``.

    Attributes:
        shifted: ``first`` plus one.
        fine: of a field of short wavelength, whose values are ``fine_values``, as those of ``first`` are ``values``.
        raised: of ``first`` with the time derivative changed that an initial group is about; initial groups only.
        exact, doubled: of the exact solution and of twice it; empty without one.
    """

    points: dict[str, np.ndarray]
    zero: dict[str, np.ndarray]
    first: dict[str, np.ndarray]
    second: dict[str, np.ndarray]
    shifted: dict[str, np.ndarray]
    fine: dict[str, np.ndarray]
    values: dict[str, np.ndarray]
    fine_values: dict[str, np.ndarray]
    raised: dict[str, np.ndarray]
    exact: dict[str, np.ndarray]
    doubled: dict[str, np.ndarray]


def take_probe(problem: Problem) -> Probe:
    """Everything the check needs at random points, in one compiled evaluation."""
    points, left, values, raised, answers = jax.device_get(_evaluate(problem))
    fields = {name: {g: r[k] for g, r in left.items()} for k, name in enumerate(_FIELDS)}
    at = [{g: v[k].reshape(len(v[k]), -1) for g, v in values.items()} for k in (1, 4)]
    exact, doubled = ({g: r[k] for g, r in answers.items()} for k in (0, 1))
    return Probe(points, **fields, values=at[0], fine_values=at[1], raised=raised, exact=exact, doubled=doubled)


@eqx.filter_jit
def _evaluate(problem: Problem):
    points, exact, dims = _points(problem), exact_solution(problem), len(problem.domain.names)
    fields = waves(problem, list(_FIELDS.values()))
    left = jax.vmap(lambda u: evaluate(problem, u, points))(fields)
    values = jax.vmap(lambda u: {g: jax.vmap(u)(z[:, :dims]) for g, z in points.items()})(fields)
    first, raised = jax.tree.map(lambda leaf: leaf[1], fields), {}
    for g, group in problem.groups.items():
        if group.role is Role.INITIAL:
            risen = _Raised(first, points[g][0, dims - 1], group.order)
            raised |= evaluate(problem, risen, {g: points[g]})
    answers = {}
    if exact is not None:
        scales = jnp.asarray([1, 2], problem.domain.lower.dtype)
        answers = jax.vmap(lambda c: evaluate(problem, lambda x: c * exact(x), points))(scales)
    return points, left, values, raised, answers


def _points(problem: Problem) -> dict[str, Array]:
    """Random points of each group; half of those in the interior are drawn towards the other groups' points."""
    points, dims = (
        sample(problem, dict.fromkeys(problem.groups, POINTS), key=jax.random.key(0)),
        len(problem.domain.names),
    )
    kinds = problem.groups.items()
    edges = [points[g][:, :dims] for g, group in kinds if group.role in (Role.BOUNDARY, Role.INITIAL)]
    if edges:
        towards = jnp.stack(edges, axis=1).reshape(-1, dims)[: POINTS // 2]
        for g in [g for g, group in kinds if group.region == "interior"]:
            points[g] = points[g].at[: POINTS // 2].set(_drawn(problem.domain, points[g][: POINTS // 2], towards))
    return points


def _drawn(domain: Domain, points: Float[Array, "n d"], edge: Float[Array, "n d"]) -> Float[Array, "n d"]:
    """Points at distances from the edge down to a millionth of the way, where boundary layers are."""
    depth = 6 * (np.arange(len(points)) * np.sqrt(2) % 1)  # evenly spread, unrelated to the order of the points
    drawn = edge + jnp.asarray(10**-depth, points.dtype)[:, None] * (points - edge)
    return jnp.where(jax.vmap(domain.contains)(drawn)[:, None], drawn, points)


@eqx.filter_jit
def residuals_of(problem: Problem, u: Field, points: Mapping[str, Any]) -> dict[str, Array]:
    """Residuals of a Field, compiled."""
    return evaluate(problem, u, points)


def coordinates(x) -> str:
    """A point in words."""
    return "(" + ", ".join(f"{float(v):.6g}" for v in x) + ")"


def tolerance(dtype) -> float:
    """Relative size below which a residual counts as rounding: derivatives of order four lose half the digits."""
    return float(np.finfo(dtype).eps) ** 0.5


def largest(*arrays: np.ndarray) -> float:
    """Largest finite absolute value."""
    return max(float(np.max(np.abs(a), where=np.isfinite(a), initial=0)) for a in arrays)
