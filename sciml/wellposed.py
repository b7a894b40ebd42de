"""Whether a Problem is what it says: the check run before every solve.

It evaluates residuals of a few known fields at fixed random points, so it sees any Problem through its residuals alone.
"""

from collections.abc import Mapping
from typing import NamedTuple

import equinox as eqx
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
    probe = _probe(problem)
    failures = [*_nonfinite(probe), *_time(problem), *_ansatz(problem, ansatz, probe)]
    if failures:
        return Report(tuple(failures), (), (), None)
    failures = [*_insensitive(probe), *_exact(probe), *_wraps(problem)]
    defect, fault = _neumann(problem, probe)
    corners = _corners(problem, probe)
    notes = [_corner_sentence(c) for c in corners]
    if points_per_group is not None:
        notes += resolution_notes(problem, points_per_group)
    if defect is not None and not fault:
        notes.append("every condition is blind to constants: the solution is unique up to a constant only")
    return Report((*failures, *fault), tuple(notes), tuple(corners), defect)


def require(problem: Problem, *, ansatz: Field | None = None, points_per_group: int | None = None) -> Report:
    """``check``, raising ValueError with every failure when there is one."""
    report = check(problem, ansatz=ansatz, points_per_group=points_per_group)
    if not report.ok:
        raise ValueError(f"{type(problem).__name__} fails its check: " + "; ".join(report.failures))
    return report


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


class _Probe(NamedTuple):
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
def _probe(problem: Problem) -> _Probe:
    """One compiled evaluation of everything the check needs at random points."""
    points = sample(problem, dict.fromkeys(problem.groups, _POINTS), key=jax.random.key(0))
    first, exact = _smooth(problem, 1), exact_solution(problem)
    fields = (_constant(problem, 0.0), first, _smooth(problem, 2), lambda x: first(x) + 1.0)
    known = () if exact is None else (exact, lambda x: 2 * exact(x))
    left = [evaluate(problem, u, points) for u in (*fields, *known)] + [{}] * (2 - len(known))
    dims = len(problem.domain.names)
    values = {g: jax.vmap(lambda x: jnp.atleast_1d(first(x[:dims])))(z) for g, z in points.items()}
    return _Probe(points, *left, values)


def _nonfinite(probe: _Probe) -> list[str]:
    found = []
    for g, z in probe.points.items():
        bad = ~jnp.all(jnp.isfinite(probe.first[g]) & jnp.isfinite(probe.zero[g]), axis=1)
        if bool(jnp.any(bad)):
            where = _coordinates(z[jnp.argmax(bad)])
            found.append(f"the residual of group {g!r} is not finite at {where}: look at its forcing or coefficients")
    return found


def _insensitive(probe: _Probe) -> list[str]:
    return [
        f"the residual of group {g!r} does not depend on the unknown"
        for g, zero in probe.zero.items()
        if bool(jnp.all(probe.first[g] == zero) & jnp.all(probe.second[g] == zero))
    ]


def _coordinates(x: Array) -> str:
    return "(" + ", ".join(f"{float(v):.6g}" for v in x) + ")"


def _tolerance(dtype) -> float:
    """Relative size below which a residual counts as rounding: derivatives of order four lose half the digits."""
    return float(jnp.finfo(dtype).eps) ** 0.5


def _exact(probe: _Probe) -> list[str]:
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
        if not value <= _tolerance(r.dtype) * size:
            found.append(
                f"the exact solution leaves the residual {value:.6g} in group {g!r} at {_coordinates(probe.points[g][worst])}"
                f" (other fields leave {size:.3g}): the forcing or the data belong to another solution"
            )
    return found


@eqx.filter_jit
def _end_values(problem: Problem, axis: int) -> Float[Array, "2 2 n"]:
    """Exact values and slopes at the (lower, upper) ends of a periodic coordinate."""
    exact, domain = exact_solution(problem), problem.domain
    points = domain.sample("interior", 64, key=jax.random.key(2))
    ends = [points.at[:, axis].set(end[axis]) for end in (domain.lower, domain.upper)]
    return jnp.stack([jnp.stack([jax.vmap(derivative(exact, axis, k))(z).reshape(-1) for z in ends]) for k in (0, 1)])


def _wraps(problem: Problem) -> list[str]:
    """On a periodic coordinate the exact solution has equal values and slopes at the two ends."""
    if exact_solution(problem) is None:
        return []
    found = []
    for i in [i for i, wraps in enumerate(problem.domain.periodic) if wraps]:
        for what, (low, high) in zip(("value", "slope"), _end_values(problem, i), strict=True):
            size = float(jnp.max(jnp.abs(low)) + jnp.max(jnp.abs(high)))
            gap = float(jnp.max(jnp.abs(low - high)))
            if not gap <= _tolerance(low.dtype) * max(size, float(jnp.finfo(low.dtype).tiny)):
                name = problem.domain.names[i]
                found.append(f"the exact solution's {what} differs by {gap:.3g} at the ends of the periodic {name!r}")
    return found


def _time(problem: Problem) -> list[str]:
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


@eqx.filter_jit
def _residuals(problem: Problem, u: Field, points: Mapping[str, Array]) -> dict[str, Array]:
    return evaluate(problem, u, points)


def _ansatz(problem: Problem, ansatz: Field | None, probe: _Probe) -> list[str]:
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
    for g, r in _residuals(problem, ansatz, at).items():
        value, size = float(jnp.max(jnp.abs(r))), float(jnp.max(jnp.abs(probe.first[g])))
        if not value <= _tolerance(r.dtype) * size:
            found.append(f"the ansatz claims to fix group {g!r} but leaves the residual {value:.3g} there")
    return found


def _neumann(problem: Problem, probe: _Probe) -> tuple[float | None, list[str]]:
    """Compatibility of a steady problem whose residuals all ignore constants.

    With interior residual r and boundary residual b of such a problem there is an s with ``int r(w) + s int b(w)`` the same
    for every field w; that number over the volume is the defect, and a solution needs it to vanish.
    """
    if problem.time_order or len(problem.components) > 1 or not _ignores_constants(probe):
        return None, []
    rules = {g: problem.domain.quadrature(group.region) for g, group in problem.groups.items()}
    totals = [_integrals(problem, rules, u) for u in (None, 4, 5)]
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


def _ignores_constants(probe: _Probe) -> bool:
    return all(
        bool(
            jnp.max(jnp.abs(probe.shifted[g] - r)) <= _tolerance(r.dtype) * jnp.max(jnp.abs(r) + jnp.abs(probe.zero[g]))
        )
        for g, r in probe.first.items()
    )


@eqx.filter_jit
def _sums(problem: Problem, rules, seed: int | None) -> dict[str, Array]:
    """Integral of each group's residual, of the zero field (seed None) or of a smooth one."""
    fields = problem.residuals(_constant(problem, 0.0) if seed is None else _smooth(problem, seed))
    return {
        g: jnp.sum(w * jax.lax.map(lambda x, r=fields[g]: jnp.sum(r(x)), z, batch_size=4096))
        for g, (z, w) in rules.items()
    }


def _integrals(problem: Problem, rules, seed: int | None) -> tuple[float, float]:
    """Integrals of the equation residuals and of the other residuals."""
    totals = {g: float(v) for g, v in _sums(problem, rules, seed).items()}
    inside = sum(v for g, v in totals.items() if problem.groups[g].role is Role.EQUATION)
    return inside, sum(totals.values()) - inside


def _corners(problem: Problem, probe: _Probe) -> list[Corner]:
    """Meetings of two regions with Dirichlet data (or initial values) that disagree."""
    held = {g: sign for g in problem.groups if (sign := _dirichlet(problem, g, probe)) is not None}
    pairs = [
        (a, b, points)
        for first, second, points in problem.domain.meetings(5)
        for a in held
        for b in held
        if problem.groups[a].region == first and problem.groups[b].region == second
    ]
    if not pairs:
        return []
    met = {g: [z for a, b, z in pairs if g in (a, b)] for g in held}
    left = _residuals(problem, _constant(problem, 0.0), {g: jnp.concatenate(z) for g, z in met.items() if z})
    data = {g: iter(jnp.split(-held[g] * r[:, 0], np.cumsum([len(z) for z in met[g]])[:-1])) for g, r in left.items()}
    found = []
    for a, b, points in pairs:
        jumps = jnp.abs(next(data[a]) - next(data[b]))
        worst = int(jnp.argmax(jumps))
        size = max(float(jnp.max(jnp.abs(probe.zero[g]))) for g in (a, b))
        if float(jumps[worst]) > _tolerance(points.dtype) * size:
            found.append(Corner(a, b, tuple(float(v) for v in points[worst]), float(jumps[worst])))
    return found


def _dirichlet(problem: Problem, group: str, probe: _Probe) -> float | None:
    """The sign s of a group whose residual is ``s (u - g)``, None for any other group."""
    if problem.groups[group].role not in (Role.BOUNDARY, Role.INITIAL) or probe.zero[group].shape[1] != 1:
        return None
    moved, values = probe.first[group] - probe.zero[group], probe.values[group]
    if values.shape[1] != 1:
        return None
    for sign in (1.0, -1.0):
        if bool(jnp.all(jnp.abs(moved - sign * values) <= _tolerance(moved.dtype) * jnp.max(jnp.abs(values)))):
            return sign
    return None


def _corner_sentence(corner: Corner) -> str:
    return f"groups {corner.first} and {corner.second} disagree by {corner.jump:.6g} at {_coordinates(jnp.asarray(corner.point))}"


@eqx.filter_jit
def _sizes(problem: Problem) -> Float[Array, " d_plus_1"]:
    """rms of the exact solution and of its partial derivatives."""
    exact, dims = exact_solution(problem), len(problem.domain.names)
    points = problem.domain.sample("interior", _POINTS, key=jax.random.key(3))
    fields = (exact, *(derivative(exact, i) for i in range(dims)))
    return jnp.stack([jnp.sqrt(jnp.mean(jax.vmap(u)(points) ** 2)) for u in fields])


def points_per_period(problem: Problem, n: int) -> dict[str, float]:
    """Points along each coordinate in one period of the exact solution, when ``n`` points fill the domain evenly.

    The wavenumber along a coordinate is rms(du/dx) / rms(u). Empty when there is no exact solution.
    """
    if exact_solution(problem) is None:
        return {}
    domain, (size, *slopes) = problem.domain, _sizes(problem)
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
