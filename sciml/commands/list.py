"""The problems, their equations and references; the methods and weightings."""

import dataclasses

from sciml.commands.base import Outcome, parse


@dataclasses.dataclass(frozen=True)
class ListOptions:
    """The problems: equation, dimension, reference and its own error."""

    json: bool = False
    """Print one JSON object on stdout."""


def run(arguments: list[str]) -> Outcome:
    """Print the table."""
    parse(ListOptions, arguments, "python -m sciml list", str(ListOptions.__doc__))
    import pdes
    from sciml.pinn import METHODS
    from sciml.report.table import table
    from sciml.weighting import ALL as WEIGHTINGS

    rows = []
    for name, kind in pdes.ALL.items():
        problem, reference = kind(), kind().reference()  # type: ignore[call-arg]
        rows.append(
            {
                "name": name,
                "equation": str(kind.__doc__).split("\n")[0],
                "dimension": len(problem.domain.names),
                "parameters": {k: float(p.default) for k, p in pdes.parameters(name).items()},
                "reference": None if reference is None else reference.how,
                "reference_floor": None if reference is None else reference.floor,
            }
        )
    text = table(
        [(r["name"], str(r["dimension"]), f"{r['reference_floor']:.1e}", r["equation"]) for r in rows],
        ("problem", "dim", "floor", "equation"),
    )
    text = f"{text}\n\nmethods: auto, {', '.join(METHODS)}\nweightings: {', '.join(WEIGHTINGS)}"
    return 0, text, {"problems": rows, "methods": ["auto", *METHODS], "weightings": list(WEIGHTINGS)}
