"""Whether a Problem's parts fit together: names, finite values, exact solution, initial conditions, ansatz."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sciml.field import Field, derivative
from sciml.problem import Problem, Role, exact_solution, sample
from sciml.wellposed.probe import Probe, constant, coordinates, largest, residuals_of, tolerance

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
    return found or _shapes(problem)


def _one_value_each(problem: Problem):
    points = sample(problem, dict.fromkeys(problem.groups, 1), key=jax.random.key(0))
    fields, exact = problem.residuals(constant(problem, 0.0)), exact_solution(problem)
    return None if exact is None else exact(problem.domain.lower), {g: fields[g](z[0]) for g, z in points.items()}


def _shapes(problem: Problem) -> list[str]:
    """Values at a point that are neither a number nor a vector, and an exact solution without one value a component."""
    answer, residuals = eqx.filter_eval_shape(_one_value_each, problem)
    found = [
        f"the residual of group {g!r} has shape {r.shape} at a point; expected a number or a vector"
        for g, r in residuals.items()
        if len(r.shape) > 1
    ]
    expected = (len(problem.components),) if len(problem.components) > 1 else ()
    if answer is not None and answer.shape != expected:
        found.append(
            f"the exact solution has shape {answer.shape} at a point; expected {expected}, one value a component"
        )
    return found


def nonfinite(probe: Probe) -> list[str]:
    """Groups that are not finite somewhere for any of the fields (a nonlinear term may refuse some of them)."""
    found = []
    for g, z in probe.points.items():
        tried = [u[g] for u in (probe.zero, probe.first, probe.second, probe.shifted, probe.exact) if u]
        bad = np.all([~np.isfinite(r).all(axis=1) for r in tried], axis=0)
        if bad.any():
            where = coordinates(z[np.argmax(bad)])
            found.append(f"the residual of group {g!r} is not finite at {where}: look at its forcing or coefficients")
    return found


def insensitive(probe: Probe) -> list[str]:
    """Groups whose residual is the same for every field."""
    return [
        f"the residual of group {g!r} does not depend on the unknown"
        for g, zero in probe.zero.items()
        if all(np.array_equal(u[g], zero, equal_nan=True) for u in (probe.first, probe.second))
    ]


def exact_kills(probe: Probe) -> list[str]:
    """The exact solution kills every residual, relative to what other fields leave at the same point."""
    found = []
    for g, r in probe.exact.items():
        if not np.isfinite(r).all():
            found.append(f"the exact solution leaves a non-finite residual in group {g!r}")
            continue
        others = np.abs([probe.zero[g], probe.first[g], probe.doubled[g]])
        size = np.max(others, axis=0, where=np.isfinite(others), initial=0)
        tiny, rounding = np.finfo(r.dtype).tiny, float(np.finfo(r.dtype).eps) ** (2 / 3) * size.max(axis=0)
        excess = np.max(np.abs(r) / (tolerance(r.dtype) * size + rounding + tiny), axis=1)
        worst = int(np.argmax(excess))
        if excess[worst] > 1:
            found.append(
                f"the exact solution leaves the residual {np.abs(r[worst]).max():.6g} in group {g!r} at "
                f"{coordinates(probe.points[g][worst])} (other fields leave {size[worst].max():.3g}): "
                "the forcing or the data belong to another solution"
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
        for what, (low, high) in zip(("value", "slope"), np.asarray(_end_values(problem, exact, i)), strict=True):
            gap, size = np.max(np.abs(low - high)), largest(low) + largest(high)
            if not gap <= tolerance(low.dtype) * max(size, float(np.finfo(low.dtype).tiny)):
                name = problem.domain.names[i]
                found.append(f"the exact solution's {what} differs by {gap:.3g} at the ends of the periodic {name!r}")
    return found


def initial_conditions(problem: Problem, probe: Probe) -> list[str]:
    """Every initial condition that the order in time asks for is there, and is about the derivative it says."""
    initial = {name: group.order for name, group in problem.groups.items() if group.role is Role.INITIAL}
    has_time = {"initial", "final"} <= set(problem.domain.regions())
    if has_time != (problem.time_order > 0) and (has_time or initial):
        return [f"time_order is {problem.time_order} on a domain {'with' if has_time else 'without'} time"]
    missing = [
        f"the initial {_order_name(k)} is missing: an equation of order {problem.time_order} in time needs orders 0 to "
        f"{problem.time_order - 1}"
        for k in range(problem.time_order)
        if k not in initial.values()
    ]
    return missing + [
        f"group {name!r} is declared as the initial {_order_name(k)} but does not depend on it"
        for name, k in initial.items()
        if largest(probe.raised[name] - probe.first[name]) <= _rounding(probe.first[name])
    ]


def _rounding(residual: np.ndarray) -> float:
    return tolerance(residual.dtype) * largest(residual)


def _order_name(k: int) -> str:
    return _ORDER_NAMES.get(k, f"time derivative of order {k}")


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
    for g, r in jax.device_get(residuals_of(problem, ansatz, at)).items():
        value = np.max(np.abs(r))
        if not value <= _rounding(probe.first[g]):
            found.append(f"the ansatz claims to fix group {g!r} but leaves the residual {value:.3g} there")
    return found
