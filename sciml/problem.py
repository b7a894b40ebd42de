"""Problems: where, what vanishes there, and (if known) the answer.

A Problem is a pytree whose numbers are array leaves: a leading axis makes a family, the gradient with
respect to it is an inverse problem. It holds no network, no points, no weights and no loss.
"""

import abc
import enum
from collections.abc import Mapping
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from sciml.domain import Domain
from sciml.field import Field


class Role(enum.Enum):
    """What a residual group states."""

    EQUATION = "equation"
    BOUNDARY = "boundary"
    INITIAL = "initial"
    DATA = "data"


class Group(NamedTuple):
    """A residual group: the region it lives on, its role, and for INITIAL the order of the time derivative it fixes."""

    region: str
    role: Role
    order: int = 0


class Reference(NamedTuple):
    """Values to measure errors against, with the reference's own relative L2 error.

    Attributes:
        points: shape (n, d), fixed.
        values: shape (n,) or (n, m).
        floor: relative L2 error of ``values`` themselves; no smaller error can be claimed.
        how: one line on where the values come from.
    """

    points: Float[Array, "n d"]
    values: Float[Array, "n ..."]
    floor: float
    how: str


class Problem(eqx.Module):
    """Abstract: a domain, the residuals that vanish there, and optionally the answer.

    Attributes:
        components: names of the unknown's components; a single name means a scalar Field.
        groups: the residual groups, by name; the same names key residuals, samples, weights, logs and certificates.
        time_order: highest time derivative, 0 when there is no time; the check asks for that many initial conditions.
        domain: where.
    """

    components: eqx.AbstractClassVar[tuple[str, ...]]
    groups: eqx.AbstractClassVar[Mapping[str, Group]]
    time_order: eqx.AbstractClassVar[int]
    domain: eqx.AbstractVar[Domain]

    @abc.abstractmethod
    def residuals(self, u: Field) -> dict[str, Field]:
        """One Field a group, each zero at the solution; keys are those of ``groups``."""

    @abc.abstractmethod
    def reference(self) -> Reference | None:
        """Values to compare with, or None when no answer is known."""


class HodgeForm(NamedTuple):
    """A linear operator on k-forms, ``A = stiffness (d* d + d d*) + mass``, with the regions where u is prescribed."""

    degree: int
    stiffness: Float[Array, ""]
    mass: Float[Array, ""]
    essential: tuple[str, ...]


class LinearProblem(Problem):
    """Abstract: ``d^k u / dt^k + A u = source`` with ``A`` given by a HodgeForm, the one bridge to meshes."""

    @abc.abstractmethod
    def source(self, x: Float[Array, " d"]) -> Float[Array, "..."]:
        """Right-hand side at a point."""

    @abc.abstractmethod
    def hodge(self) -> HodgeForm:
        """The spatial operator, as stiffness and mass on forms of one degree."""


def exact_solution(problem: Problem) -> Field | None:
    """The closed-form solution of a Problem that defines ``exact(x)``, else None."""
    return getattr(problem, "exact", None)


@eqx.filter_jit
def _exact_values(problem: Problem, points: Float[Array, "n d"]) -> Float[Array, "n ..."]:
    exact = exact_solution(problem)
    if exact is None:
        raise ValueError(f"got {type(problem).__name__}, which has no exact(x); give it one, or compute its reference")
    return jax.vmap(exact)(points)


def exact_reference(problem: Problem, shape: tuple[int, ...]) -> Reference:
    """Reference from ``problem.exact`` on the domain's fixed grid of about ``prod(shape)`` points; floor = rounding."""
    points = problem.domain.grid(shape)
    values = _exact_values(problem, points)
    return Reference(points, values, float(jnp.finfo(values.dtype).eps), "closed form")


def sample(problem: Problem, counts: Mapping[str, int], *, key: PRNGKeyArray) -> dict[str, Float[Array, "_n _d"]]:
    """Fresh uniform points for each residual group.

    Args:
        counts: number of points a group; groups left out are not sampled.

    Raises:
        ValueError: unknown group, or a group with fewer than one point.
    """
    check_counts(problem, counts)
    keys = jax.random.split(key, len(problem.groups))
    return {
        name: problem.domain.sample(group.region, counts[name], key=k)
        for k, (name, group) in zip(keys, problem.groups.items(), strict=True)
        if name in counts
    }


def check_counts(problem: Problem, counts: Mapping[str, int]) -> None:
    """Raise ValueError for a group the problem lacks or a group without points."""
    for name, n in counts.items():
        if name not in problem.groups:
            raise ValueError(f"got the unknown residual group {name!r}; expected one of {', '.join(problem.groups)}")
        if n < 1:
            raise ValueError(f"got {n} points for the residual group {name!r}; expected at least 1")


def evaluate(
    problem: Problem, u: Field, points: Mapping[str, Float[Array, "_n _d"]]
) -> dict[str, Float[Array, "_n _m"]]:
    """Residuals of ``u`` at ``points``, one ``(n, m)`` array a group."""
    fields = problem.residuals(u)
    return {g: jax.vmap(lambda x, r=fields[g]: jnp.atleast_1d(r(x)))(z) for g, z in points.items()}
