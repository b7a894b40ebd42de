"""The verb ``solve`` on a mesh: no network, no training; the same Solution."""

import equinox as eqx
import jax
import jax.numpy as jnp

import meshes
from sciml.hodge.bridge import solve_on_mesh
from sciml.pinn.clock import Clock
from sciml.pinn.rows import chunked
from sciml.problem import Problem
from sciml.solution import RESULTS, Solution


def on_mesh(
    problem: Problem, mesh: meshes.Mesh, *, steps: int | None, target: float | None, notes: list[str], running: Clock
) -> Solution:
    """Solve by Whitney forms and measure against the problem's reference; ``steps`` are those in time."""
    found, reference = solve_on_mesh(problem, mesh, steps=steps), problem.reference()
    relative = largest = None
    if reference is not None:
        gap = chunked(found.field, reference.points, 1024) - reference.values
        relative = float(jnp.linalg.norm(gap) / jnp.linalg.norm(reference.values))
        largest = float(jnp.max(jnp.abs(gap)))
    numbers = jax.tree.leaves(eqx.filter(found.field, eqx.is_inexact_array))
    finite = all(bool(jnp.all(jnp.isfinite(a))) for a in numbers)
    missed = target is not None and relative is not None and not relative <= target
    result = RESULTS.nonfinite if not finite else RESULTS.stalled if missed else RESULTS.converged
    stats = {
        "relative_l2": relative,
        "max_error": largest,
        "reference_floor": None if reference is None else reference.floor,
        "reference": None if reference is None else reference.how,
        "residuals": {},
        "steps": found.steps,
        "seconds": running.seconds,
        "compile_seconds": running.compile_seconds,
        "parameters": found.unknowns,
        "method": "mesh",
        "weights": "none",
        "why": f"a mesh of {len(mesh.cells)} cells was given",
        "dtype": str(numbers[0].dtype),
        "notes": notes,
    }
    return Solution(found.field, result, stats, None)
