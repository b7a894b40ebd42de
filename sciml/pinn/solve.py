"""The verb ``solve``: check the problem, choose a method, advance it in blocks, measure, report, stop."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from threadpoolctl import threadpool_limits

from meshes import Mesh
from sciml import weighting as weightings
from sciml.field import Field
from sciml.parameters import parameter_count
from sciml.pinn.choose import choose
from sciml.pinn.clock import Clock, clock
from sciml.pinn.methods import METHODS
from sciml.pinn.on_mesh import on_mesh
from sciml.pinn.rows import chunked, weighted_loss
from sciml.pinn.solver import Solver, State
from sciml.problem import Group, Problem, Reference, Role, check_counts, evaluate, sample
from sciml.solution import RESULTS, Solution
from sciml.weighting import Weighting
from sciml.wellposed import invariant_drift, require, resolution_notes


class Progress(NamedTuple):
    """What an observer receives after every block of steps."""

    step: int
    seconds: float
    compile_seconds: float
    loss: float
    residuals: dict[str, float]
    relative_l2: float | None
    max_error: float | None
    message: str
    state: State


class Plan(NamedTuple):
    """A solve made ready: method, weighting, points a group, the state before the first step, and the reason."""

    solver: Solver
    weighting: Weighting
    counts: dict[str, int]
    state: State
    method: str
    weights: str
    why: str


class Budget(NamedTuple):
    """When to stop: seconds, steps in all, relative L2 error; None for no limit."""

    seconds: float | None
    steps: int | None
    target: float | None


@eqx.filter_jit
def _network(solver: Solver, problem, key) -> Field:
    return solver.network(problem, key=key)


@eqx.filter_jit
def _start(solver: Solver, problem, model, weighting, counts, key) -> State:
    return solver.start(problem, model, weighting, counts, key=key)


@eqx.filter_jit
def _advance(solver: Solver, problem, weighting, counts, state, steps) -> State:
    return solver.advance(problem, weighting, counts, state, steps)


@eqx.filter_jit
def _errors(model: Field, points, values) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Relative L2 and largest absolute error at the reference points."""
    gap = chunked(model, points, 4096) - values
    return jnp.linalg.norm(gap) / jnp.linalg.norm(values), jnp.max(jnp.abs(gap))


@eqx.filter_jit
def _zero_loss(problem: Problem, counts, factors, key) -> Float[Array, ""]:
    """Loss of the zero field, the size of the problem's data."""
    many = len(problem.components)
    zero = evaluate(
        problem, lambda x: jnp.zeros((many,) if many > 1 else (), x.dtype), sample(problem, counts, key=key)
    )
    return weighted_loss(zero, factors, {g: jnp.ones(r.shape[0], r.dtype) for g, r in zero.items()})


def default_counts(problem: Problem, rows: int) -> dict[str, int]:
    """``rows`` points for an equation group, every row of a data group, ``rows / 8`` (at least 32) for the others."""

    def count(group: Group) -> int:
        if group.role is Role.EQUATION:
            return rows
        return int(problem.domain.volume(group.region)) if group.role is Role.DATA else max(rows // 8, 32)

    return {g: count(group) for g, group in problem.groups.items()}


def _named(kind: str, given, known: Mapping[str, Callable[[], Any]], of: type) -> tuple[Any, str]:
    """The object and its name, from a name or an object."""
    if isinstance(given, of):
        return given, type(given).__name__
    if given not in known:
        raise ValueError(f"got the unknown {kind} {given!r}; expected one of {', '.join(known)}")
    return known[given](), given


def _check_network(problem: Problem, model: Field) -> None:
    """Raise ValueError when the model is not a function from the problem's points to its components."""
    names, many = problem.domain.names, len(problem.components)
    expected = (many,) if many > 1 else ()
    try:
        shape = jax.eval_shape(model, problem.domain.lower).shape
    except TypeError as error:
        raise ValueError(
            f"got a network that does not take a point of shape ({len(names)},) ({', '.join(names)}): {error}"
        ) from error
    if shape != expected:
        raise ValueError(
            f"got a network with values of shape {shape}; expected {expected} for the components "
            f"{', '.join(problem.components)}"
        )


def begin(
    problem: Problem,
    *,
    method: str | Solver = "auto",
    weights: str | Weighting = "least-squares",
    network: Field | None = None,
    points: Mapping[str, int] | None = None,
    key: PRNGKeyArray,
) -> Plan:
    """Make a solve ready without taking a step; arguments and errors as for ``solve``."""
    why = "asked for"
    if method == "auto":
        method, why = choose(problem, network)
    solver, method_name = _named("method", method, METHODS, Solver)
    weighting, weights_name = _named("weighting", weights, weightings.ALL, Weighting)
    check_counts(problem, points or {})
    counts = default_counts(problem, solver.rows) | dict(points or {})
    draw, later = jax.random.split(key)
    model = _network(solver, problem, draw) if network is None else network
    _check_network(problem, model)
    state = _start(solver, problem, model, weighting, counts, later)
    return Plan(solver, weighting, counts, state, method_name, weights_name, why)


def solve(
    problem: Problem,
    *,
    method: str | Solver = "auto",
    weights: str | Weighting = "least-squares",
    network: Field | None = None,
    points: Mapping[str, int] | None = None,
    seconds: float | int | None = None,
    steps: int | None = None,
    target: float | int | None = None,
    observer: Callable[[Progress], None] | None = None,
    state: State | None = None,
    mesh: Mesh | None = None,
    key: PRNGKeyArray | None = None,
) -> Solution:
    """Solve a Problem: find the Field whose residuals vanish, by a network or on a mesh.

    Args:
        problem: checked first (``sciml.wellposed.check``).
        method: a name in ``METHODS``, a Solver, or "auto", which chooses and says why.
        weights: a name in ``sciml.weighting.ALL`` or a Weighting.
        network: the model to train; by default the method's own.
        points: points for named residual groups, over the method's defaults.
        seconds: budget of wall time, compilation included; None: until the method stalls.
        steps: budget of steps in all, those before ``state`` included.
        target: relative L2 error against the problem's reference at which to stop.
        observer: called with a Progress after every block of steps.
        state: a state to go on from, of the same problem and method.
        mesh: solve a LinearProblem by linear elements on this mesh of its domain instead; ``steps`` are then those in
            time, and ``target`` alone of the other options applies.
        key: randomness of the network and of the points; not needed with a mesh.

    Returns:
        Solution with ``field``, ``result``, ``stats`` and ``state``.

    Raises:
        ValueError: a problem that fails its check, unknown names, budgets that are not positive, a target without a
            reference.
    """
    budget = check_budget(seconds, steps, target)
    with clock() as running, threadpool_limits(1, user_api="blas"):  # XLA has its own pool; two pools cost up to 10x
        report = require(problem)
        if mesh is not None:
            given = {"network": network, "points": points, "seconds": seconds, "observer": observer, "state": state}
            if wrong := [name for name, value in given.items() if value is not None]:
                raise ValueError(f"got {wrong[0]} together with a mesh; expected only steps and target")
            return on_mesh(problem, mesh, steps=steps, target=target, notes=list(report.notes), running=running)
        if key is None:
            raise ValueError("got no key; expected key=jax.random.key(seed), or a mesh to solve on")
        plan = begin(problem, method=method, weights=weights, network=network, points=points, key=key)
        reference = problem.reference()
        if target is not None and reference is None:
            raise ValueError(
                "got a target error for a problem without a reference; give it exact(x), or leave the target out"
            )
        state = plan.state if state is None else state
        state, result = _march(problem, plan, state, reference, budget, observer, running)
        notes = [*report.notes, *resolution_notes(problem, max(plan.counts.values()))]
        stats = _statistics(problem, plan, state, reference, notes, running)
        if result == RESULTS.stalled and _is_converged(stats, state.loss.dtype):
            result = RESULTS.converged
    return Solution(state.model, result, stats, state)


def check_budget(seconds: float | int | None, steps: int | None, target: float | int | None) -> Budget:
    """The budget; ValueError for numbers that are not positive and finite, or a target beyond the precision."""
    for name, value in (("seconds", seconds), ("steps", steps), ("target", target)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise ValueError(f"got {name} = {value}; expected a positive finite number")
    reach = 100 * float(jnp.finfo(jnp.result_type(float)).eps)
    if target is not None and target < reach:
        raise ValueError(
            f"got the target {target:g}, which {jnp.result_type(float)} cannot reach ({reach:.0e} at best); "
            "ask for less, or compute in double precision"
        )
    return Budget(seconds, steps, target)


def _march(problem, plan: Plan, state: State, reference, budget: Budget, observer, running: Clock):
    """Advance block by block to the budget, the target, a stall or a non-finite value; returns the last good state."""
    pace = _Pace(0.0, 0.0, 1.0)
    while True:
        done = int(state.step)
        if budget.steps is not None and done >= budget.steps:
            return state, RESULTS.budget_spent
        state = plan.solver.turn(problem, state)
        if bool(state.stalled):
            return state, RESULTS.stalled
        cost = plan.solver.cost(state)
        if budget.seconds is not None and done and running.seconds + pace.foresee(cost) > budget.seconds:
            return state, RESULTS.budget_spent
        began, compiled = running.seconds, running.compile_seconds
        length = plan.solver.block if budget.steps is None else min(plan.solver.block, budget.steps - done)
        new = _advance(plan.solver, problem, plan.weighting, plan.counts, state, jnp.asarray(length))
        progress = _progress(plan, new, reference, running)
        compiling = running.compile_seconds - compiled
        pace = _Pace(running.seconds - began - compiling, compiling or pace.compiling, cost)
        if not _finite(new):
            return state, RESULTS.nonfinite
        state = new
        if observer is not None:
            observer(progress)
        if budget.target is not None and progress.relative_l2 is not None and progress.relative_l2 <= budget.target:
            return state, RESULTS.converged


class _Pace(NamedTuple):
    """Seconds of the last block without compiling, seconds of the last compilation, and the block's relative cost."""

    running: float
    compiling: float
    cost: float

    def foresee(self, cost: float) -> float:
        """Seconds that a block of another cost will take; a change of cost is a change of shape, which compiles."""
        return self.running * cost / self.cost + (self.compiling if cost != self.cost else 0.0)


def _finite(state: State) -> bool:
    leaves = jax.tree.leaves(eqx.filter(state.model, eqx.is_inexact_array))
    return bool(jnp.isfinite(state.loss)) and all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in leaves)


def _progress(plan: Plan, state: State, reference: Reference | None, running: Clock) -> Progress:
    relative, largest = (None, None) if reference is None else map(float, _errors(state.model, *reference[:2]))
    loss, residuals = float(state.loss), {g: float(r) for g, r in state.residuals.items()}
    return Progress(
        step=int(state.step),
        seconds=running.seconds,
        compile_seconds=running.compile_seconds,
        loss=loss,
        residuals=residuals,
        relative_l2=relative,
        max_error=largest,
        message=plan.solver.describe(state),
        state=state,
    )


def _statistics(problem, plan: Plan, state: State, reference, notes: list[str], running: Clock) -> dict[str, Any]:
    progress = _progress(plan, state, reference, running)
    size = _zero_loss(problem, plan.counts, state.factors, state.key)
    return {
        "relative_l2": progress.relative_l2,
        "max_error": progress.max_error,
        "reference_floor": None if reference is None else reference.floor,
        "reference": None if reference is None else reference.how,
        "residuals": progress.residuals,
        "loss": progress.loss,
        "steps": progress.step,
        "seconds": running.seconds,
        "compile_seconds": running.compile_seconds,
        "parameters": parameter_count(state.model),
        "method": plan.method,
        "weights": plan.weights,
        "why": plan.why,
        "dtype": str(state.loss.dtype),
        "notes": notes,
        "invariant_drift": invariant_drift(problem, state.model),
        "relative_residual": math.sqrt(progress.loss / float(size)) if size > 0 else None,
    }


def _is_converged(stats: dict[str, Any], dtype) -> bool:
    """Residual at rounding, relative to that of the zero field, and invariants kept: the first alone is not enough."""
    relative = stats["relative_residual"]
    kept = all(d <= 1e-3 for d in stats["invariant_drift"].values())
    return relative is not None and relative <= 1e6 * float(jnp.finfo(dtype).eps) and kept
