"""A run: its table, and its pictures drawn again."""

import dataclasses
from pathlib import Path
from typing import Annotated

import jax
import tyro

from sciml.commands.base import Outcome, parse


@dataclasses.dataclass(frozen=True)
class ShowOptions:
    """A run: its table, and its pictures drawn again."""

    folder: Annotated[str, tyro.conf.Positional]
    """The run folder."""
    json: bool = False
    """Print one JSON object on stdout."""


def run(arguments: list[str]) -> Outcome:
    """Print the table and draw."""
    options = parse(ShowOptions, arguments, "python -m sciml show", str(ShowOptions.__doc__))
    import pdes
    from sciml.report import plots
    from sciml.report import run as runs
    from sciml.report.table import summary_table

    folder = Path(options.folder)
    jax.config.update("jax_enable_x64", runs.settings_of(folder).dtype != "float32")
    summary = runs.read_summary(folder)
    problem, _, _ = runs.reopen(folder, pdes.make)
    plots.draw_solution(folder / "solution.png", problem, runs.load(folder, pdes.make), problem.reference())
    plots.draw_convergence(folder / "convergence.png", runs.read_metrics(folder), summary["reference_floor"])
    return 0, f"{summary_table(summary)}\npictures: {folder}/solution.png {folder}/convergence.png", summary
