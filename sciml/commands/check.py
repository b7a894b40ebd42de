"""Check the installation, under a minute."""

import dataclasses

from sciml.commands.base import Outcome, parse


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """Check the installation: versions, float width, algebra, a small solve, a saved result; under a minute."""

    x64: bool = True
    """Double precision."""
    json: bool = False
    """Print one JSON object on stdout."""


def run(arguments: list[str]) -> Outcome:
    """Print versions and the outcome of each check."""
    parse(CheckOptions, arguments, "python -m sciml check", str(CheckOptions.__doc__))
    from sciml.report.selfcheck import self_check
    from sciml.report.table import table

    outcomes, facts = self_check()
    rows = [(o.name, "pass" if o.passed else "FAIL", o.detail) for o in outcomes]
    text = "\n".join([table([(k, str(v)) for k, v in facts.items()]), "", table(rows, ("check", "outcome", "detail"))])
    value = {"environment": facts, "checks": [o._asdict() for o in outcomes], "passed": all(o.passed for o in outcomes)}
    return int(not value["passed"]), text, value
