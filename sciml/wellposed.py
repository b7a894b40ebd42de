"""Whether a Problem is what it says: the check run before every solve.

It evaluates residuals of a few known fields at fixed random points, so it sees any Problem through its residuals alone.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sciml.domain import SpaceTime
from sciml.field import Field, derivative
from sciml.problem import Problem, Role, evaluate, exact_solution, sample

_POINTS = 512
_PER_PERIOD = 10  # points per period below which a note is made
_ORDER_NAMES = {0: "displacement (order 0)", 1: "velocity (order 1)"}


class Corner(NamedTuple):
    """A point where the data of two groups disagree, and by how much."""

    first: str
    second: str
    point: tuple[float, ...]
    jump: float


class Report(NamedTuple):
    """Outcome of ``check``.

    Attributes:
        failures: sentences that forbid a solve.
        notes: sentences worth reading.
        corners: data that disagree where regions meet.
        defect: mean compatibility defect of a pure Neumann problem, None for other problems.
    """

    failures: tuple[str, ...]
    notes: tuple[str, ...]
    corners: tuple[Corner, ...]
    defect: float | None

    @property
    def ok(self) -> bool:
        """No failures."""
        return not self.failures


def check(problem: Problem, *, ansatz: Field | None = None, points_per_group: int | None = None) -> Report:
    """Check a Problem's groups, forcing, initial conditions, solvability, corners and resolution.

    Args:
        ansatz: a hard-constraint Field with ``fixes``, the groups it satisfies by its form; they are verified.
        points_per_group: points a solve will use; too few a period are noted.

    Returns:
        Report; nothing is raised for a faulty problem, see ``require``.
    """
    failures = _structure(problem)
    if failures:
        return Report(tuple(failures), (), (), None)
    points = sample(problem, dict.fromkeys(problem.groups, _POINTS), key=jax.random.key(0))
    probe = _Probe(problem, points)
    failures = [*probe.nonfinite(), *_time(problem), *_ansatz(problem, ansatz, points)]
    if failures:
        return Report(tuple(failures), (), (), None)
    failures = [*probe.insensitive(), *_exact(problem, probe), *_wraps(problem)]
    defect, fault = _neumann(problem, probe)
    corners = _corners(problem)
    notes = [_corner_sentence(c) for c in corners] + _resolution_notes(problem, points_per_group)
    if defect is not None and not fault:
        notes.append("every condition is blind to constants: the solution is unique up to a constant only")
    return Report((*failures, *fault), tuple(notes), tuple(corners), defect)


def require(problem: Problem, *, ansatz: Field | None = None, points_per_group: int | None = None) -> Report:
    """``check``, raising ValueError with every failure when there is one."""
    report = check(problem, ansatz=ansatz, points_per_group=points_per_group)
    if not report.ok:
        raise ValueError(f"{type(problem).__name__} fails its check: " + "; ".join(report.failures))
    return report


def _fixed(ansatz: Field | None) -> tuple[str, ...]:
    return () if ansatz is None else getattr(ansatz, "fixes", ())


def _structure(problem: Problem) -> list[str]:
    """Names that do not fit together."""
    stated, given = set(problem.groups), set(problem.residuals(_constant(problem, 0.0)))
    found = [f"group {g!r} has no residual" for g in sorted(stated - given)]
    found += [f"residual {g!r} is not listed in groups" for g in sorted(given - stated)]
    known = problem.domain.regions()
    for name, group in problem.groups.items():
        if group.region not in known:
            found.append(f"group {name!r} lives on region {group.region!r}; the domain has {', '.join(known)}")
    if not problem.components:
        found.append("components is empty; name the unknown, for example ('u',)")
    return found


def _constant(problem: Problem, value: float) -> Field:
    many = len(problem.components)
    return lambda x: jnp.full((many,) if many > 1 else (), value, x.dtype)


def _smooth(problem: Problem, seed: int) -> Field:
    """A fixed smooth field of order one, not periodic, not symmetric."""
    many, dims = len(problem.components), len(problem.domain.names)
    rng = np.random.default_rng(seed)
    wave, phase = rng.uniform(0.5, 2, (max(many, 1), dims)), rng.uniform(0, 6, max(many, 1))
    lower, width = problem.domain.lower, problem.domain.upper - problem.domain.lower

    def field(x):
        values = jnp.sin(jnp.asarray(wave, x.dtype) @ ((x - lower) / width) + jnp.asarray(phase, x.dtype)) + 0.3
        return values if many > 1 else values[0]

    return field


def _scaled(u: Field, factor: float) -> Field:
    return lambda x: factor * u(x)


class _Probe:
    """Residuals of the zero field and of two smooth ones at the same points, evaluated once."""

    def __init__(self, problem: Problem, points: Mapping[str, Array]):
        self.problem, self.points = problem, points
        fields = (_constant(problem, 0.0), _smooth(problem, 1), _smooth(problem, 2))
        self.zero, self.first, self.second = (evaluate(problem, u, points) for u in fields)

    def nonfinite(self) -> list[str]:
        found = []
        for g in self.problem.groups:
            bad = ~jnp.all(jnp.isfinite(self.first[g]) & jnp.isfinite(self.zero[g]), axis=1)
            if bool(jnp.any(bad)):
                where = _coordinates(self.points[g][jnp.argmax(bad)])
                found.append(f"the residual of group {g!r} is not finite at {where}: look at its forcing or coefficients")
        return found

    def insensitive(self) -> list[str]:
        return [
            f"the residual of group {g!r} does not depend on the unknown"
            for g in self.problem.groups
            if bool(jnp.all(self.first[g] == self.zero[g]) & jnp.all(self.second[g] == self.zero[g]))
        ]


def _coordinates(x: Array) -> str:
    return "(" + ", ".join(f"{float(v):.6g}" for v in x) + ")"


def _tolerance(dtype) -> float:
    """Relative size below which a residual counts as rounding: derivatives of order four lose half the digits."""
    return float(jnp.finfo(dtype).eps) ** 0.5


def _exact(problem: Problem, probe: _Probe) -> list[str]:
    """The exact solution kills every residual, relative to what other fields leave."""
    exact = exact_solution(problem)
    if exact is None:
        return []
    found = []
    at_exact = evaluate(problem, exact, probe.points)
    doubled = evaluate(problem, _scaled(exact, 2.0), probe.points)
    for g, r in at_exact.items():
        if not bool(jnp.all(jnp.isfinite(r))):
            found.append(f"the exact solution leaves a non-finite residual in group {g!r}")
            continue
        others = (probe.zero[g], probe.first[g], doubled[g])
        size = max(float(jnp.max(jnp.abs(o))) for o in others)
        worst = jnp.argmax(jnp.max(jnp.abs(r), axis=1))
        value = float(jnp.max(jnp.abs(r[worst])))
        if not value <= _tolerance(r.dtype) * size:
            found.append(
                f"the exact solution leaves the residual {value:.6g} in group {g!r} at {_coordinates(probe.points[g][worst])}"
                f" (other fields leave {size:.3g}): the forcing or the data belong to another solution"
            )
    return found


def _wraps(problem: Problem) -> list[str]:
    """On a periodic coordinate the exact solution has equal values and slopes at the two ends."""
    exact, domain = exact_solution(problem), problem.domain
    if exact is None:
        return []
    points = domain.sample("interior", 64, key=jax.random.key(2))
    found = []
    for i, wraps in enumerate(domain.periodic):
        ends = (points.at[:, i].set(domain.lower[i]), points.at[:, i].set(domain.upper[i])) if wraps else ()
        for order in (0, 1) if wraps else ():
            low, high = (jax.vmap(derivative(exact, i, order))(z) for z in ends)
            size = float(jnp.max(jnp.abs(low)) + jnp.max(jnp.abs(high)))
            gap = float(jnp.max(jnp.abs(low - high)))
            if not gap <= _tolerance(points.dtype) * max(size, float(jnp.finfo(points.dtype).tiny)):
                what = "value" if order == 0 else "slope"
                found.append(f"the exact solution's {what} differs by {gap:.3g} at the ends of the periodic coordinate {domain.names[i]!r}")
    return found


def _time(problem: Problem) -> list[str]:
    """Every initial condition that the order in time asks for is there."""
    has_time = isinstance(problem.domain, SpaceTime)
    if has_time != (problem.time_order > 0) and (has_time or any(g.role is Role.INITIAL for g in problem.groups.values())):
        return [f"time_order is {problem.time_order} on a domain {'with' if has_time else 'without'} time"]
    given = {g.order for g in problem.groups.values() if g.role is Role.INITIAL}
    return [
        f"the initial {_ORDER_NAMES.get(k, f'time derivative of order {k}')} is missing: an equation of order "
        f"{problem.time_order} in time needs orders 0 to {problem.time_order - 1}"
        for k in range(problem.time_order)
        if k not in given
    ]


def _ansatz(problem: Problem, ansatz: Field | None, points: Mapping[str, Array]) -> list[str]:
    """The groups that an ansatz claims to fix vanish for it."""
    if ansatz is None:
        return []
    fixed = _fixed(ansatz)
    found = [
        f"the ansatz fixes the unknown group {g!r}; the problem has {', '.join(problem.groups)}"
        for g in fixed
        if g not in problem.groups
    ]
    at = {g: points[g] for g in fixed if g in problem.groups}
    left, zero = evaluate(problem, ansatz, at), evaluate(problem, _smooth(problem, 3), at)
    for g, r in left.items():
        value, size = float(jnp.max(jnp.abs(r))), float(jnp.max(jnp.abs(zero[g])))
        if not value <= _tolerance(r.dtype) * size:
            found.append(f"the ansatz claims to fix group {g!r} but leaves the residual {value:.3g} there")
    return found


def _neumann(problem: Problem, probe: _Probe) -> tuple[float | None, list[str]]:
    """Compatibility of a steady problem whose residuals all ignore constants.

    With interior residual r and boundary residual b of such a problem there is an s with ``int r(w) + s int b(w)`` the same
    for every field w; that number over the volume is the defect, and a solution needs it to vanish.
    """
    if problem.time_order or len(problem.components) > 1 or not _ignores_constants(problem, probe):
        return None, []
    rules = {g: problem.domain.quadrature(group.region) for g, group in problem.groups.items()}
    totals = [_integrals(problem, rules, u) for u in (_constant(problem, 0.0), _smooth(problem, 4), _smooth(problem, 5))]
    (r0, b0), (r1, b1), (r2, b2) = totals
    volume = float(sum(jnp.sum(w) for g, (_, w) in rules.items() if problem.groups[g].role is Role.EQUATION))
    size = max(abs(v) for pair in totals for v in pair)
    s = -(r1 - r0) / (b1 - b0) if b1 != b0 else 0.0
    sampled = any(len(w) > 100_000 for _, w in rules.values())
    slack = 2e-2 if sampled else 1e-6  # Monte Carlo or Gauss quadrature
    if abs((r2 - r0) + s * (b2 - b0)) > slack * size:
        return None, []  # not in divergence form with these boundary residuals: no compatibility condition of this kind
    defect = -(r0 + s * b0) / volume
    if abs(defect) * volume <= slack * size:
        return defect, []
    return defect, [
        f"no solution exists: sources and boundary fluxes do not balance, defect {defect:.6g} (mean source over the domain)"
    ]


def _ignores_constants(problem: Problem, probe: _Probe) -> bool:
    shifted = evaluate(problem, lambda x: _smooth(problem, 1)(x) + 1.0, probe.points)
    tolerance = _tolerance(next(iter(shifted.values())).dtype)
    return all(
        bool(jnp.max(jnp.abs(shifted[g] - r)) <= tolerance * jnp.max(jnp.abs(r) + jnp.abs(probe.zero[g]) + 1e-3))
        for g, r in probe.first.items()
    )


def _integrals(problem: Problem, rules, u: Field) -> tuple[float, float]:
    """Integrals of the equation residuals and of the other residuals."""
    fields = problem.residuals(u)
    totals = {
        g: float(jnp.sum(w * jax.lax.map(lambda x, r=fields[g]: jnp.sum(r(x)), z, batch_size=4096)))
        for g, (z, w) in rules.items()
    }
    inside = sum(v for g, v in totals.items() if problem.groups[g].role is Role.EQUATION)
    return inside, sum(totals.values()) - inside


def _corners(problem: Problem) -> list[Corner]:
    """Meetings of two regions with Dirichlet data (or initial values) that disagree."""
    if len(problem.components) > 1:
        return []
    held = {g: data for g, group in problem.groups.items() if (data := _dirichlet(problem, g)) and group.region != "boundary"}
    found = []
    for first, second, points in problem.domain.meetings(5):
        for a in [g for g in held if problem.groups[g].region == first]:
            for b in [g for g in held if problem.groups[g].region == second]:
                jumps = jnp.abs(jax.vmap(held[a])(points) - jax.vmap(held[b])(points))
                worst = int(jnp.argmax(jumps))
                if float(jumps[worst]) > _tolerance(points.dtype) * max(_size(problem, a, held[a]), _size(problem, b, held[b])):
                    found.append(Corner(a, b, tuple(float(v) for v in points[worst]), float(jumps[worst])))
    return found


def _size(problem: Problem, group: str, data: Field) -> float:
    """Largest size of a group's data over its region."""
    points = problem.domain.sample(problem.groups[group].region, _POINTS, key=jax.random.key(5))
    return float(jnp.max(jnp.abs(jax.vmap(data)(points))))


def _dirichlet(problem: Problem, group: str) -> Callable[[Float[Array, " d"]], Float[Array, ""]] | None:
    """Data g of a group whose residual is ``u - g`` (either sign), None for any other group."""
    if problem.groups[group].role not in (Role.BOUNDARY, Role.INITIAL):
        return None
    region = problem.groups[group].region
    points = problem.domain.sample(region, 8, key=jax.random.key(4))
    field = _smooth(problem, 6)
    rest = evaluate(problem, _constant(problem, 0.0), {group: points})[group]
    whole = evaluate(problem, field, {group: points})[group]
    if rest.shape[1] != 1:
        return None
    moved, values = (whole - rest)[:, 0], jax.vmap(field)(points)
    for sign in (1.0, -1.0):
        if bool(jnp.all(jnp.abs(moved - sign * values) <= _tolerance(points.dtype) * jnp.max(jnp.abs(values)))):
            return lambda x: -sign * problem.residuals(_constant(problem, 0.0))[group](x).reshape(())
    return None


def _corner_sentence(corner: Corner) -> str:
    return f"groups {corner.first} and {corner.second} disagree by {corner.jump:.6g} at {_coordinates(jnp.asarray(corner.point))}"


def points_per_period(problem: Problem, n: int) -> dict[str, float]:
    """Points along each coordinate in one period of the exact solution, when ``n`` points fill the domain evenly.

    The wavenumber along a coordinate is rms(du/dx) / rms(u). Empty when there is no exact solution.
    """
    exact, domain = exact_solution(problem), problem.domain
    if exact is None:
        return {}
    points = domain.sample("interior", _POINTS, key=jax.random.key(3))
    size = jnp.sqrt(jnp.mean(jax.vmap(exact)(points) ** 2))
    along = n ** (1 / len(domain.names))
    found = {}
    for i, name in enumerate(domain.names):
        wavenumber = jnp.sqrt(jnp.mean(jax.vmap(derivative(exact, i))(points) ** 2)) / size
        periods = float(wavenumber * (domain.upper[i] - domain.lower[i]) / (2 * jnp.pi))
        found[name] = along / periods if periods > 0 else float("inf")
    return found


def _resolution_notes(problem: Problem, n: int | None) -> list[str]:
    if n is None:
        return []
    return [
        f"about {held:.1f} points a period along {name!r} with {n} points: use more, or march in windows"
        for name, held in points_per_period(problem, n).items()
        if held < _PER_PERIOD
    ]


def invariant_drift(problem: Problem, u: Field, points: Float[Array, "n d"]) -> dict[str, float]:
    """``(max - min) / max |.|`` over points of each of the problem's invariants, Fields that are constant at the solution.

    A Problem may define ``invariants(u) -> dict[str, Field]``; without it the result is empty.
    """
    stated = getattr(problem, "invariants", None)
    if stated is None:
        return {}
    found = {}
    for name, field in stated(u).items():
        values = jax.vmap(field)(points)
        size = jnp.max(jnp.abs(values))
        found[name] = float((jnp.max(values) - jnp.min(values)) / jnp.where(size > 0, size, 1))
    return found
