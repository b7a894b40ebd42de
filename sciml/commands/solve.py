"""Solve a problem: python -m sciml solve NAME [--PARAM VALUE ...]."""

import dataclasses
from pathlib import Path
from typing import Any

import jax

from sciml.commands.base import Outcome, Usage, elapsed, parse

_SECONDS = 300.0
_RESERVE = 4.0  # seconds kept for the pictures


@dataclasses.dataclass(frozen=True)
class SolveOptions:
    """Options of every problem."""

    method: str = "auto"
    """auto, which chooses and says why, or a method that 'list' names."""
    weights: str = "least-squares"
    """A weighting that 'list' names."""
    seconds: float | None = None
    """Wall time of the whole run, import and compilation included; 300 unless --steps is given."""
    steps: int | None = None
    """Steps in all; a run limited by steps alone gives the same numbers every time."""
    target: float | None = None
    """Relative L2 error to stop at; exit status 1 when it is not reached."""
    seed: int = 0
    """Seed of the network and of the points."""
    out: str | None = None
    """Folder for the run; a new one below runs/ by default."""
    resume: str | None = None
    """Run folder to go on with, under its own settings."""
    x64: bool = True
    """Double precision."""
    json: bool = False
    """Print one JSON object on stdout."""


def _options_of(name: str) -> type:
    """SolveOptions with the problem's parameters in front."""
    import pdes

    own = [(k, float, dataclasses.field(default=float(p.default))) for k, p in pdes.parameters(name).items()]
    return dataclasses.make_dataclass(f"solve_{name}", own, bases=(SolveOptions,), frozen=True)


def run(arguments: list[str]) -> Outcome:
    """Solve, with a run folder around it."""
    import pdes
    from sciml.pinn import check_budget
    from sciml.report.table import summary_table

    if not arguments or arguments[0].startswith("-"):
        raise Usage(f"got no problem; expected python -m sciml solve NAME with NAME one of {', '.join(pdes.ALL)}")
    name, *rest = arguments
    kind = _options_of(name)
    options = parse(kind, rest, f"python -m sciml solve {name}", str(pdes.ALL[name].__doc__))
    check_budget(options.seconds, options.steps, options.target)
    summary, status = _run(name, options, kind)
    return status, summary_table(summary), summary


def _run(name: str, options: Any, kind: type) -> tuple[dict[str, Any], int]:
    """Solve with a run folder around it; the summary and the exit status."""
    import pdes
    from sciml.pinn import begin, solve
    from sciml.report import plots
    from sciml.report import run as runs
    from sciml.solution import RESULTS

    options, config = _inherited(options, kind, name)
    parameters = {k: float(getattr(options, k)) for k in pdes.parameters(name)}
    problem = pdes.make(name, **parameters)
    plan = begin(problem, method=options.method, weights=options.weights, key=jax.random.key(options.seed))
    settings = runs.Settings(name, parameters, plan.method, plan.weights, options.seed, str(plan.state.loss.dtype))
    folder = Path(options.resume) if options.resume else _new_folder(options.out, name)
    runs.create(folder)
    with runs.locked(folder):
        if config:
            runs.check_same(folder, settings)
        else:
            runs.start(folder, settings, {"steps": options.steps, "target": options.target})
        recorder = runs.Recorder(folder, plan, resumed=bool(config))
        seconds = options.seconds or (None if options.steps else _SECONDS)
        left = None if seconds is None else max(seconds - elapsed() - _RESERVE, 1e-3)
        found = solve(
            problem,
            method=plan.method,
            weights=plan.weights,
            seconds=left,
            steps=options.steps,
            target=options.target,
            observer=recorder,
            state=runs.load_state(folder, plan) if config else None,
            key=jax.random.key(options.seed),
        )
        reference = problem.reference()
        plots.draw_solution(folder / "solution.png", problem, found.field, reference)
        summary = _summary(settings, plan.why if options.method == "auto" else "asked for", found, folder)
        recorder.finish(found.field, found.state, summary)
        plots.draw_convergence(folder / "convergence.png", runs.read_metrics(folder), found.stats["reference_floor"])
    missed = options.target is not None and found.result != RESULTS.converged
    return summary, int(missed or found.result == RESULTS.nonfinite)


def _inherited(options: Any, kind: type, name: str) -> tuple[Any, dict[str, Any]]:
    """Options with the settings of the run to resume in place of defaults, and that run's configuration."""
    from sciml.report import run as runs

    if options.resume is None:
        return options, {}
    if options.out is not None:
        raise Usage("got --out together with --resume; a resumed run stays in its folder")
    folder = Path(options.resume)
    settings, config = runs.settings_of(folder), runs.read_json(folder / "config.json")
    if settings.problem != name:
        raise ValueError(f"got {options.resume}, a run of {settings.problem}; expected a run of {name}")
    old = {
        **settings.parameters,
        **{k: getattr(settings, k) for k in ("method", "weights", "seed")},
        **{k: config.get(k) for k in ("steps", "target")},
    }
    defaults = {f.name: f.default for f in dataclasses.fields(kind)}
    fresh = {k: v for k, v in old.items() if k in defaults and getattr(options, k) == defaults[k]}
    return dataclasses.replace(options, **fresh), config


def _new_folder(out: str | None, name: str) -> Path:
    """The folder asked for, which must not hold a run, or the next free one below runs/."""
    if out is None:
        return next(p for i in range(10**6) if not (p := Path("runs") / f"{name}-{i:03d}").exists())
    if (Path(out) / "config.json").exists():
        raise ValueError(
            f"got the folder {out}, which holds a run already; go on with it by --resume, or choose another"
        )
    return Path(out)


def _summary(settings: Any, why: str, found: Any, folder: Path) -> dict[str, Any]:
    """The JSON object of a solve."""
    from sciml.solution import RESULTS, result_name

    stats = {k: v for k, v in found.stats.items() if k not in ("method", "weights", "why", "seconds", "dtype")}
    return {
        "problem": settings.problem,
        "problem_parameters": settings.parameters,
        "method": settings.method,
        "why": why,
        "weights": settings.weights,
        "seed": settings.seed,
        "dtype": settings.dtype,
        **stats,
        **({} if stats["relative_l2"] is not None else {"relative_l2_reason": "the problem has no reference"}),
        "seconds": elapsed(),
        "result": result_name(found.result),
        "result_text": RESULTS[found.result],
        "out": str(folder),
    }
