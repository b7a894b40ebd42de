"""What a solve returns: the field, why it stopped, its statistics, and the state that resumes it."""

from typing import Any

import equinox as eqx

from sciml.field import Field


class RESULTS(eqx.Enumeration):
    """Why a solve stopped; the text says what to do next."""

    converged = "The requested accuracy was reached."
    budget_spent = "The budget of steps or seconds was spent before the accuracy was reached; resume, or give it more."
    stalled = "No further progress at this precision and model size; use a larger network or another method."
    nonfinite = (
        "The residuals became non-finite; the last finite state is returned. Lower the learning rate or check the data."
    )
    ill_posed = "The problem has no unique solution as posed; the report of pdes.check names the defect."


class Solution(eqx.Module):
    """Result of a solve.

    Attributes:
        field: the solution, a callable ``(d,) -> ()`` or ``(m,)``.
        result: a member of RESULTS; ``RESULTS[solution.result]`` is its text.
        stats: plain values: ``relative_l2``, ``max_error``, ``reference_floor``, ``residuals``, ``loss``, ``steps``,
            ``seconds``, ``compile_seconds``, ``parameters``, ``method``, ``why``, ``notes``, ...
        state: everything needed to go on from here.
    """

    field: Field
    result: RESULTS
    stats: dict[str, Any]
    state: Any


def result_name(result: RESULTS) -> str:
    """The member's name, such as "converged"."""
    members = ("converged", "budget_spent", "stalled", "nonfinite", "ill_posed")
    return next(name for name in members if getattr(RESULTS, name) == result)
