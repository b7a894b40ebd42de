"""Whether a Problem's parts fit together: names, finite values, exact solution, initial conditions, ansatz."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.domain import SpaceTime
from sciml.field import Field, derivative
from sciml.problem import Problem, Role, exact_solution
from sciml.wellposed.probe import Probe, constant, coordinates, residuals_of, tolerance

_ORDER_NAMES = {0: "displacement (order 0)", 1: "velocity (order 1)"}


def structure(problem: Problem) -> list[str]:
    """Names that do not fit together."""
    stated, given = set(problem.groups), set(problem.residuals(constant(problem, 0.0)))
    found = [f"group {g!r} has no residual" for g in sorted(stated - given)]
    found += [f"residual {g!r} is not listed in groups" for g in sorted(given - stated)]
    known = problem.domain.regions()
    for name, group in problem.groups.items():
        if group.region not in known:
            found.append(f"group {name!r} lives on region {group.region!r}; the domain has {', '.join(known)}")
    if not problem.components:
        found.append("components is empty; name the unknown, for example ('u',)")
    return found


def nonfinite(probe: Probe) -> list[str]:
    found = []
    for g, z in probe.points.items():
        bad = ~jnp.all(jnp.isfinite(probe.first[g]) & jnp.isfinite(probe.zero[g]), axis=1)
        if bool(jnp.any(bad)):
            where = coordinates(z[jnp.argmax(bad)])
            found.append(f"the residual of group {g!r} is not finite at {where}: look at its forcing or coefficients")
    return found


def insensitive(probe: Probe) -> list[str]:
    return [
        f"the residual of group {g!r} does not depend on the unknown"
        for g, zero in probe.zero.items()
        if bool(jnp.all(probe.first[g] == zero) & jnp.all(probe.second[g] == zero))
    ]


def exact_kills(probe: Probe) -> list[str]:
    """The exact solution kills every residual, relative to what other fields leave."""
    found = []
    for g, r in probe.exact.items():
        if not bool(jnp.all(jnp.isfinite(r))):
            found.append(f"the exact solution leaves a non-finite residual in group {g!r}")
            continue
        others = (probe.zero[g], probe.first[g], probe.doubled[g])
        size = max(float(jnp.max(jnp.abs(o))) for o in others)
        worst = jnp.argmax(jnp.max(jnp.abs(r), axis=1))
        value = float(jnp.max(jnp.abs(r[worst])))
        if not value <= tolerance(r.dtype) * size:
            found.append(
                f"the exact solution leaves the residual {value:.6g} in group {g!r} at "
                f"{coordinates(probe.points[g][worst])}"
                f" (other fields leave {size:.3g}): the forcing or the data belong to another solution"
            )
    return found


@eqx.filter_jit
def _end_values(problem: Problem, exact: Field, axis: int) -> Float[Array, "2 2 n"]:
    """Exact values and slopes at the (lower, upper) ends of a periodic coordinate."""
    domain = problem.domain
    points = domain.sample("interior", 64, key=jax.random.key(2))
    ends = [points.at[:, axis].set(end[axis]) for end in (domain.lower, domain.upper)]
    return jnp.stack([jnp.stack([jax.vmap(derivative(exact, axis, k))(z).reshape(-1) for z in ends]) for k in (0, 1)])


def wraps_around(problem: Problem) -> list[str]:
    """On a periodic coordinate the exact solution has equal values and slopes at the two ends."""
    exact = exact_solution(problem)
    if exact is None:
        return []
    found = []
    for i in [i for i, wraps in enumerate(problem.domain.periodic) if wraps]:
        for what, (low, high) in zip(("value", "slope"), _end_values(problem, exact, i), strict=True):
            size = float(jnp.max(jnp.abs(low)) + jnp.max(jnp.abs(high)))
            gap = float(jnp.max(jnp.abs(low - high)))
            if not gap <= tolerance(low.dtype) * max(size, float(jnp.finfo(low.dtype).tiny)):
                name = problem.domain.names[i]
                found.append(f"the exact solution's {what} differs by {gap:.3g} at the ends of the periodic {name!r}")
    return found


def initial_conditions(problem: Problem) -> list[str]:
    """Every initial condition that the order in time asks for is there."""
    has_time = isinstance(problem.domain, SpaceTime)
    if has_time != (problem.time_order > 0) and (
        has_time or any(g.role is Role.INITIAL for g in problem.groups.values())
    ):
        return [f"time_order is {problem.time_order} on a domain {'with' if has_time else 'without'} time"]
    given = {g.order for g in problem.groups.values() if g.role is Role.INITIAL}
    return [
        f"the initial {_ORDER_NAMES.get(k, f'time derivative of order {k}')} is missing: an equation of order "
        f"{problem.time_order} in time needs orders 0 to {problem.time_order - 1}"
        for k in range(problem.time_order)
        if k not in given
    ]


def ansatz_holds(problem: Problem, ansatz: Field | None, probe: Probe) -> list[str]:
    """The groups that an ansatz claims to fix vanish for it."""
    if ansatz is None:
        return []
    fixed = getattr(ansatz, "fixes", ())
    found = [
        f"the ansatz fixes the unknown group {g!r}; the problem has {', '.join(problem.groups)}"
        for g in fixed
        if g not in problem.groups
    ]
    at = {g: probe.points[g] for g in fixed if g in problem.groups}
    for g, r in residuals_of(problem, ansatz, at).items():
        value, size = float(jnp.max(jnp.abs(r))), float(jnp.max(jnp.abs(probe.first[g])))
        if not value <= tolerance(r.dtype) * size:
            found.append(f"the ansatz claims to fix group {g!r} but leaves the residual {value:.3g} there")
    return found
