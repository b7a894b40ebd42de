"""The command line: ``python -m sciml list | solve | show | check``.

Exit status: 0 pass, 1 the claim fails or the accuracy asked for was not reached, 2 undecided, 3 invalid input or usage.
"""

import contextlib
import dataclasses
import difflib
import io
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import jax
import tyro

_IMPORTED = time.perf_counter()
_SECONDS = 300.0
_RESERVE = 4.0  # seconds kept for the pictures


@dataclasses.dataclass(frozen=True)
class ListOptions:
    """The problems: equation, dimension, reference and its own error."""

    json: bool = False
    """Print one JSON object on stdout."""


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """Check the installation: versions, float width, algebra, a small solve, a saved result; under a minute."""

    x64: bool = True
    """Double precision."""
    json: bool = False
    """Print one JSON object on stdout."""


@dataclasses.dataclass(frozen=True)
class ShowOptions:
    """A run: its table, and its pictures drawn again."""

    folder: Annotated[str, tyro.conf.Positional]
    """The run folder."""
    json: bool = False
    """Print one JSON object on stdout."""


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


class _Usage(ValueError):
    """Wrong use of the command line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    try:
        with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
            status, text, value = _dispatch(arguments)
    except ValueError as error:
        status, text, value = 3, None, {"error": str(error)}
        print(f"error: {error}", file=sys.stderr)
    if as_json:
        from sciml.report.run import finite

        print(json.dumps(finite(value), allow_nan=False))
    elif text is not None:
        print(text)
    return status


_Outcome = tuple[int, str | None, dict[str, Any]]


def _dispatch(arguments: list[str]) -> _Outcome:
    commands: dict[str, Callable[[list[str]], _Outcome]] = {
        "list": _list,
        "solve": _solve,
        "show": _show,
        "check": _check,
    }
    if not arguments or arguments[0] in ("-h", "--help"):
        lines = ["usage: python -m sciml COMMAND ...", "", *(f"  {n:6} {f.__doc__}" for n, f in commands.items())]
        return (
            (0 if arguments else 3),
            "\n".join([*lines, "", "python -m sciml COMMAND --help explains a command."]),
            {},
        )
    name, *rest = arguments
    if name not in commands:
        raise _Usage(f"got the unknown command {name!r}; expected one of {', '.join(commands)}")
    jax.config.update("jax_enable_x64", "--no-x64" not in rest)
    return commands[name](rest)


def _parse(options: type, arguments: list[str], prog: str, description: str) -> Any:
    """Options from arguments; usage errors are sentences."""
    known = {f"--{f.name.replace('_', '-')}" for f in dataclasses.fields(options)} | {"--no-x64", "--no-json", "--help"}
    for given in arguments:
        flag = given.split("=")[0].replace("_", "-")
        if given.startswith("--") and flag not in known:
            near = difflib.get_close_matches(flag, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise _Usage(f"got the unknown option {flag} of '{prog}'{hint}; expected one of {', '.join(sorted(known))}")
    numbers = {f"--{f.name}" for f in dataclasses.fields(options) if {f.type, *get_args(f.type)} & {float, int}}
    for flag, value in itertools.pairwise(" ".join(arguments).replace("=", " ").split(" ")):
        if flag.replace("-", "_").replace("__", "--", 1) in numbers and not _is_number(value):
            raise _Usage(f"got {flag} {value}; expected a number")
    helping = "--help" in arguments or "-h" in arguments
    try:
        with contextlib.nullcontext() if helping else contextlib.redirect_stderr(io.StringIO()):
            return tyro.cli(options, args=arguments, prog=prog, description=description)
    except SystemExit as stop:
        if stop.code in (0, None):
            raise
        raise _Usage(f"'{prog}' could not read its arguments {' '.join(arguments)!r}; see '{prog} --help'") from stop


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _list(arguments: list[str]) -> _Outcome:
    """the problems, their equations and references; the methods and weightings"""
    _parse(ListOptions, arguments, "python -m sciml list", str(ListOptions.__doc__))
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


def _options_of(name: str) -> type:
    """SolveOptions with the problem's parameters in front."""
    import pdes

    own = [(k, float, dataclasses.field(default=float(p.default))) for k, p in pdes.parameters(name).items()]
    return dataclasses.make_dataclass(f"solve_{name}", own, bases=(SolveOptions,), frozen=True)


def _solve(arguments: list[str]) -> _Outcome:
    """solve a problem: python -m sciml solve NAME [--PARAM VALUE ...]"""
    import pdes
    from sciml.pinn import check_budget
    from sciml.report.table import summary_table

    if not arguments or arguments[0].startswith("-"):
        raise _Usage(f"got no problem; expected python -m sciml solve NAME with NAME one of {', '.join(pdes.ALL)}")
    name, *rest = arguments
    kind = _options_of(name)
    options = _parse(kind, rest, f"python -m sciml solve {name}", str(pdes.ALL[name].__doc__))
    check_budget(options.seconds, options.steps, options.target)
    summary, status = _run(name, options, kind)
    return status, summary_table(summary), summary


def _run(name: str, options: Any, kind: type) -> tuple[dict[str, Any], int]:
    """Solve with a run folder around it; the summary and the exit status."""
    import pdes
    from sciml.pinn import begin, solve
    from sciml.report import plots, run
    from sciml.solution import RESULTS

    options, config = _inherited(options, kind, name)
    parameters = {k: float(getattr(options, k)) for k in pdes.parameters(name)}
    problem = pdes.make(name, **parameters)
    plan = begin(problem, method=options.method, weights=options.weights, key=jax.random.key(options.seed))
    settings = run.Settings(name, parameters, plan.method, plan.weights, options.seed, str(plan.state.loss.dtype))
    folder = Path(options.resume) if options.resume else _new_folder(options.out, name)
    run.create(folder)
    with run.locked(folder):
        if config:
            run.check_same(folder, settings)
        else:
            run.start(folder, settings, {"steps": options.steps, "target": options.target})
        recorder = run.Recorder(folder, plan, resumed=bool(config))
        seconds = options.seconds or (None if options.steps else _SECONDS)
        left = None if seconds is None else max(seconds - _elapsed() - _RESERVE, 1e-3)
        found = solve(
            problem,
            method=plan.method,
            weights=plan.weights,
            seconds=left,
            steps=options.steps,
            target=options.target,
            observer=recorder,
            state=run.load_state(folder, plan) if config else None,
            key=jax.random.key(options.seed),
        )
        reference = problem.reference()
        plots.draw_solution(folder / "solution.png", problem, found.field, reference)
        summary = _summary(settings, plan.why if options.method == "auto" else "asked for", found, folder)
        recorder.finish(found.field, found.state, summary)
        plots.draw_convergence(folder / "convergence.png", run.read_metrics(folder), found.stats["reference_floor"])
    missed = options.target is not None and found.result != RESULTS.converged
    return summary, int(missed or found.result == RESULTS.nonfinite)


def _inherited(options: Any, kind: type, name: str) -> tuple[Any, dict[str, Any]]:
    """Options with the settings of the run to resume in place of defaults, and that run's configuration."""
    from sciml.report import run

    if options.resume is None:
        return options, {}
    if options.out is not None:
        raise _Usage("got --out together with --resume; a resumed run stays in its folder")
    folder = Path(options.resume)
    settings, config = run.settings_of(folder), run.read_json(folder / "config.json")
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
        "seconds": _elapsed(),
        "result": result_name(found.result),
        "result_text": RESULTS[found.result],
        "out": str(folder),
    }


def _elapsed() -> float:
    """Seconds since this process began, or since this module was imported where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        import os

        started = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
        return float(Path("/proc/uptime").read_text().split()[0]) - started
    return time.perf_counter() - _IMPORTED


def _show(arguments: list[str]) -> _Outcome:
    """a run: table and pictures"""
    options = _parse(ShowOptions, arguments, "python -m sciml show", str(ShowOptions.__doc__))
    import pdes
    from sciml.report import plots, run
    from sciml.report.table import summary_table

    folder = Path(options.folder)
    jax.config.update("jax_enable_x64", run.settings_of(folder).dtype != "float32")
    summary = run.read_summary(folder)
    problem, _, _ = run.reopen(folder, pdes.make)
    plots.draw_solution(folder / "solution.png", problem, run.load(folder, pdes.make), problem.reference())
    plots.draw_convergence(folder / "convergence.png", run.read_metrics(folder), summary["reference_floor"])
    return 0, f"{summary_table(summary)}\npictures: {folder}/solution.png {folder}/convergence.png", summary


def _check(arguments: list[str]) -> _Outcome:
    """check the installation, under a minute"""
    _parse(CheckOptions, arguments, "python -m sciml check", str(CheckOptions.__doc__))
    from sciml.report.selfcheck import self_check
    from sciml.report.table import table

    outcomes, facts = self_check()
    rows = [(o.name, "pass" if o.passed else "FAIL", o.detail) for o in outcomes]
    text = "\n".join([table([(k, str(v)) for k, v in facts.items()]), "", table(rows, ("check", "outcome", "detail"))])
    value = {"environment": facts, "checks": [o._asdict() for o in outcomes], "passed": all(o.passed for o in outcomes)}
    return int(not value["passed"]), text, value


if __name__ == "__main__":
    sys.exit(main())
