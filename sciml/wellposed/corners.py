"""Data that disagree where two regions meet."""

from typing import NamedTuple

import numpy as np

from sciml.problem import Problem, Role
from sciml.wellposed.probe import Probe, constant, coordinates, largest, residuals_of, tolerance

_FEW = 4  # meetings of at most this many places name every place that jumps, larger ones the worst


class Corner(NamedTuple):
    """A point where the data of two groups for one component disagree, and by how much."""

    first: str
    second: str
    point: tuple[float, ...]
    jump: float
    component: str


class _Held(NamedTuple):
    """Column of a group's residual that is ``sign (u - data)`` for one component u."""

    column: int
    sign: float


def corners(problem: Problem, probe: Probe) -> list[Corner]:
    """Meetings of two regions with Dirichlet data (or initial values) that disagree."""
    held = {g: _prescribed(problem, g, probe) for g in problem.groups}
    pairs = [
        (a, b, np.asarray(points))
        for first, second, points in problem.domain.meetings(16)
        for a in held
        for b in held
        if held[a].keys() & held[b].keys() and (problem.groups[a].region, problem.groups[b].region) == (first, second)
    ]
    if not pairs:
        return []
    met = {g: [z for a, b, z in pairs if g in (a, b)] for g in held}
    zero = residuals_of(problem, constant(problem, 0.0), {g: np.concatenate(z) for g, z in met.items() if z})
    data = {g: iter(np.split(np.asarray(r), np.cumsum([len(z) for z in met[g]])[:-1])) for g, r in zero.items()}
    found = []
    for a, b, points in pairs:
        left, right, slack = (
            next(data[a]),
            next(data[b]),
            tolerance(points.dtype) * largest(probe.zero[a], probe.zero[b]),
        )
        for i in sorted(held[a].keys() & held[b].keys()):
            jumps = np.abs(_data(left, held[a][i]) - _data(right, held[b][i]))
            torn = [k for k in _places(points, jumps) if jumps[k] > slack]
            name = problem.components[i]
            found += [Corner(a, b, tuple(map(float, points[k])), float(jumps[k]), name) for k in torn]
    return found


def _places(points: np.ndarray, jumps: np.ndarray) -> list[int]:
    """Which points to look at: each place when there are few, else the worst."""
    places = np.unique(points, axis=0, return_index=True)[1]
    return [int(k) for k in places] if len(places) <= _FEW else [int(np.argmax(jumps))]


def _data(zero: np.ndarray, held: _Held) -> np.ndarray:
    return -held.sign * zero[:, held.column]


def _prescribed(problem: Problem, group: str, probe: Probe) -> dict[int, _Held]:
    """The components that a group prescribes: some column of its residual changes by plus or minus what u changes."""
    if problem.groups[group].role not in (Role.BOUNDARY, Role.INITIAL):
        return {}
    moved, values = probe.first[group] - probe.zero[group], probe.values[group]
    slack = tolerance(moved.dtype) * largest(values)
    return {
        i: _Held(j, sign)
        for i in range(values.shape[1])
        for j in range(moved.shape[1])
        for sign in (1.0, -1.0)
        if np.all(np.abs(moved[:, j] - sign * values[:, i]) <= slack)
    }


def corner_sentence(corner: Corner, *, system: bool) -> str:
    """One line on a corner; a system's component is named."""
    which = f" in {corner.component}" if system else ""
    where = coordinates(corner.point)
    return f"groups {corner.first} and {corner.second} disagree by {corner.jump:.6g}{which} at {where}"
