"""Data that disagree where two regions meet."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from sciml.problem import Problem, Role
from sciml.wellposed.probe import Probe, constant, coordinates, residuals_of, tolerance


class Corner(NamedTuple):
    """A point where the data of two groups disagree, and by how much."""

    first: str
    second: str
    point: tuple[float, ...]
    jump: float


def corners(problem: Problem, probe: Probe) -> list[Corner]:
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
    left = residuals_of(problem, constant(problem, 0.0), {g: jnp.concatenate(z) for g, z in met.items() if z})
    data = {g: iter(jnp.split(-held[g] * r[:, 0], np.cumsum([len(z) for z in met[g]])[:-1])) for g, r in left.items()}
    found = []
    for a, b, points in pairs:
        jumps = jnp.abs(next(data[a]) - next(data[b]))
        worst = int(jnp.argmax(jumps))
        size = max(float(jnp.max(jnp.abs(probe.zero[g]))) for g in (a, b))
        if float(jumps[worst]) > tolerance(points.dtype) * size:
            found.append(Corner(a, b, tuple(float(v) for v in points[worst]), float(jumps[worst])))
    return found


def _dirichlet(problem: Problem, group: str, probe: Probe) -> float | None:
    """The sign s of a group whose residual is ``s (u - g)``, None for any other group."""
    if problem.groups[group].role not in (Role.BOUNDARY, Role.INITIAL) or probe.zero[group].shape[1] != 1:
        return None
    moved, values = probe.first[group] - probe.zero[group], probe.values[group]
    if values.shape[1] != 1:
        return None
    for sign in (1.0, -1.0):
        if bool(jnp.all(jnp.abs(moved - sign * values) <= tolerance(moved.dtype) * jnp.max(jnp.abs(values)))):
            return sign
    return None


def corner_sentence(corner: Corner) -> str:
    """The corner in words."""
    where = coordinates(jnp.asarray(corner.point))
    return f"groups {corner.first} and {corner.second} disagree by {corner.jump:.6g} at {where}"
