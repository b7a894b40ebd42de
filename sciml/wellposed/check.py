"""Whether a Problem is what it says: the check run before every solve.

It evaluates residuals of a few known fields at fixed random points, so it sees any Problem through its residuals alone.
"""

from typing import NamedTuple

from sciml.field import Field
from sciml.problem import Problem
from sciml.wellposed.corners import Corner, corner_sentence
from sciml.wellposed.corners import corners as find_corners
from sciml.wellposed.neumann import neumann
from sciml.wellposed.probe import take_probe
from sciml.wellposed.resolution import resolution_notes
from sciml.wellposed.statements import (
    ansatz_holds,
    exact_kills,
    initial_conditions,
    insensitive,
    nonfinite,
    structure,
    wraps_around,
)


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
    failures = structure(problem)
    if failures:
        return Report(tuple(failures), (), (), None)
    probe = take_probe(problem)
    failures = [*nonfinite(probe), *initial_conditions(problem, probe), *ansatz_holds(problem, ansatz, probe)]
    if failures:
        return Report(tuple(failures), (), (), None)
    failures = [*insensitive(probe), *exact_kills(probe), *wraps_around(problem)]
    defect, fault = neumann(problem, probe, solvable=bool(probe.exact) and not failures)
    corners = find_corners(problem, probe)
    notes = [corner_sentence(c, system=len(problem.components) > 1) for c in corners]
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
