"""The run folder: configuration, versions, metrics, checkpoint, solution, summary, pictures; nothing half-written."""

import csv
import io
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import jax

from sciml.field import Field
from sciml.pinn import Plan, Progress, State, begin
from sciml.problem import Problem
from sciml.report.environment import environment
from sciml.report.store import load_tree, read_header, save_tree, write_atomically

FORMAT = 1
_CONFIG, _CHECKPOINT, _METRICS, _SOLUTION, _SUMMARY, _LOCK = (
    "config.json",
    "checkpoint.npz",
    "metrics.csv",
    "solution.npz",
    "summary.json",
    "lock",
)
_CHECKPOINT_SECONDS = 5.0
_LINE_SECONDS = 5.0


_TYPES = {"problem": str, "parameters": dict, "method": str, "weights": str, "seed": int, "dtype": str}
SUMMARY_KEYS = (
    *("problem", "problem_parameters", "method", "why", "weights", "seed", "dtype", "relative_l2", "max_error"),
    *("reference", "reference_floor", "residuals", "invariant_drift", "steps", "parameters", "seconds"),
    *("compile_seconds", "notes", "result", "result_text", "out"),
)


class Settings(NamedTuple):
    """What determines a run's numbers."""

    problem: str
    parameters: dict[str, float]
    method: str
    weights: str
    seed: int
    dtype: str


def write_json(path: Path, value: Any) -> None:
    """JSON text, written in one move; non-finite numbers become null."""
    text = json.dumps(finite(value), indent=2, allow_nan=False)
    write_atomically(path, lambda file: file.write(text.encode()))


def finite(value: Any) -> Any:
    """The same nest with None in place of every number that JSON cannot hold."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object of at most a megabyte.

    Raises:
        ValueError: absent, too long, or not a JSON object.
    """
    try:
        if path.stat().st_size > 1 << 20:
            raise ValueError("longer than 1 MiB")
        value = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(
            f"got {path.parent}, which is not a run folder: {path.name} cannot be read ({error})"
        ) from error
    if not isinstance(value, dict):
        raise ValueError(f"got {path.parent}, which is not a run folder: {path.name} is not a JSON object")
    return value


def create(folder: Path) -> None:
    """Make a folder and show that it can be written.

    Raises:
        ValueError: it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / ".probe", lambda file: None)
        (folder / ".probe").unlink()
    except OSError as error:
        raise ValueError(
            f"got the folder {folder}, which cannot be written ({error.strerror}); choose another with --out"
        ) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; the lock of a process that is gone is taken over.

    Raises:
        ValueError: another run is at work in the folder.
    """
    lock = folder / _LOCK
    _drop_stale(lock)
    try:
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError as error:
        raise ValueError(
            f"got the folder {folder}, in which another run is at work; wait for it or choose another --out"
        ) from error
    try:
        os.write(handle, str(os.getpid()).encode())
        os.close(handle)
        yield
    finally:
        lock.unlink(missing_ok=True)


def _drop_stale(lock: Path) -> None:
    try:
        os.kill(int(lock.read_text()), 0)
    except (ProcessLookupError, ValueError):
        lock.unlink(missing_ok=True)  # its process is gone, or died before it wrote its number
    except (FileNotFoundError, PermissionError):
        pass


def settings_of(folder: Path) -> Settings:
    """The settings of a run folder.

    Raises:
        ValueError: not a run folder, or settings of the wrong type.
    """
    config = read_json(folder / _CONFIG)
    for name, kind in _TYPES.items():
        if type(config.get(name)) is not kind:
            raise ValueError(
                f"got {folder}, which is not a run folder: {_CONFIG} has {name} = {config.get(name)!r}; expected "
                f"{kind.__name__}"
            )
    if not all(isinstance(v, float | int) for v in config["parameters"].values()):
        raise ValueError(f"got {folder}, which is not a run folder: {_CONFIG} has parameters that are not numbers")
    return Settings(**{name: config[name] for name in Settings._fields})


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary of a finished run.

    Raises:
        ValueError: an unfinished run, or a summary that lacks what a solve writes.
    """
    path = folder / _SUMMARY
    if not path.exists():
        raise ValueError(f"got {folder}, an unfinished run; go on with it by --resume {folder}")
    summary = read_json(path)
    missing = [key for key in SUMMARY_KEYS if key not in summary]
    if missing:
        raise ValueError(f"got {folder}, which is not a run folder: {_SUMMARY} lacks {', '.join(missing)}")
    return summary


def check_same(folder: Path, settings: Settings) -> None:
    """Raise ValueError when a folder's run had other settings."""
    config = read_json(folder / _CONFIG)
    if config.get("format") != FORMAT:
        raise ValueError(f"got {folder}, a run folder of another format; expected format {FORMAT}")
    for name, value in settings._asdict().items():
        if config.get(name) != value:
            raise ValueError(
                f"got {folder}, a run with {name} = {config.get(name)}; expected {value}: resume it with its own "
                "settings"
            )


def start(folder: Path, settings: Settings, budget: dict[str, Any]) -> None:
    """Write the configuration and the versions."""
    write_json(folder / _CONFIG, {"format": FORMAT, **settings._asdict(), **budget})
    write_json(folder / "versions.json", environment())


def load_state(folder: Path, plan: Plan) -> State | None:
    """State of the checkpoint, None when the run was stopped before its first one."""
    path = folder / _CHECKPOINT
    return load_tree(path, plan.state) if path.exists() else None


def load(folder: str | Path, make: Callable[..., Problem]) -> Field:
    """The solution of a run folder as a Field.

    Args:
        folder: a run folder.
        make: function of a problem's name and parameters, such as ``pdes.make``.

    Raises:
        ValueError: not a run folder, an unfinished one, damaged files, or another float width than that of the run.
    """
    folder = Path(folder)
    _, plan, _ = reopen(folder, make)
    return load_tree(folder / _SOLUTION, plan.state.model)


def reopen(folder: Path, make: Callable[..., Problem]) -> tuple[Problem, Plan, Settings]:
    """Problem, plan and settings of a run folder."""
    settings = settings_of(folder)
    now = str(jax.dtypes.canonicalize_dtype(float))
    if settings.dtype != now:
        raise ValueError(f"got {folder}, a run in {settings.dtype}, while this process computes in {now}")
    problem = make(settings.problem, **settings.parameters)
    return problem, plan_of(problem, settings), settings


def plan_of(problem: Problem, settings: Settings) -> Plan:
    """The plan that a run with these settings starts from."""
    return begin(problem, method=settings.method, weights=settings.weights, key=jax.random.key(settings.seed))


def read_metrics(folder: Path, until: int | None = None) -> list[dict[str, str]]:
    """Rows of the metrics file, those up to a step when one is given."""
    path = folder / _METRICS
    if not path.exists():
        return []
    rows = list(csv.DictReader(io.StringIO(path.read_text(errors="replace"))))
    try:
        return [row for row in rows if until is None or int(row["step"]) <= until]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"got {path}, which is not the metrics file of a run ({error!r})") from error


class Recorder:
    """Observer of a solve: draws progress on stderr and, with a folder, keeps metrics and checkpoints.

    The metrics file is always written before the checkpoint, and rows past the checkpoint are dropped on resuming, so
    the two agree whenever the process is killed.
    """

    def __init__(self, folder: Path | None, plan: Plan, resumed: bool):
        self.folder = folder
        step = (
            int(read_header(folder / _CHECKPOINT)["step"])
            if folder and resumed and (folder / _CHECKPOINT).exists()
            else 0
        )
        self.rows: list[dict[str, Any]] = list(read_metrics(folder, step)) if folder and step else []
        self.spent = float(self.rows[-1]["seconds"]) if self.rows else 0.0
        self.saved_at = self.drawn_at = -math.inf
        self.last: Progress | None = None
        self.fields = [
            "step",
            "seconds",
            "compile_seconds",
            "loss",
            "relative_l2",
            "max_error",
            *(f"rms_{g}" for g in plan.counts),
        ]

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        self.rows.append(
            {
                "step": progress.step,
                "seconds": f"{self.spent + progress.seconds:.3f}",
                "compile_seconds": f"{progress.compile_seconds:.3f}",
                "loss": repr(progress.loss),
                "relative_l2": "" if progress.relative_l2 is None else repr(progress.relative_l2),
                "max_error": "" if progress.max_error is None else repr(progress.max_error),
                **{f"rms_{g}": repr(r) for g, r in progress.residuals.items()},
            }
        )
        self._draw(progress)
        if time.monotonic() - self.saved_at > _CHECKPOINT_SECONDS:
            self.save(progress.state)

    def save(self, state: State) -> None:
        """Metrics, then the checkpoint that they belong to."""
        if self.folder is None:
            return
        text = io.StringIO()
        writer = csv.DictWriter(text, self.fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_atomically(self.folder / _METRICS, lambda file: file.write(text.getvalue().encode()))
        save_tree(self.folder / _CHECKPOINT, state, {"step": int(state.step)})
        self.saved_at = time.monotonic()

    def finish(self, field: Field, state: State, summary: dict[str, Any]) -> None:
        """Last checkpoint, the solution and the summary."""
        if sys.stderr.isatty() and self.last is not None:
            print(file=sys.stderr)
        if self.folder is None:
            return
        self.save(state)
        save_tree(self.folder / _SOLUTION, field, {"step": int(state.step)})
        write_json(self.folder / _SUMMARY, summary)

    def _draw(self, progress: Progress) -> None:
        terminal = sys.stderr.isatty()
        if not terminal and time.monotonic() - self.drawn_at < _LINE_SECONDS:
            return
        error = "" if progress.relative_l2 is None else f"  error {progress.relative_l2:.2e}"
        line = (
            f"step {progress.step:6d}  {self.spent + progress.seconds:7.1f} s"
            f" (compiling {progress.compile_seconds:.1f} s)"
            f"  loss {progress.loss:.2e}{error}  {progress.message}"
        )
        print(f"\r\033[K{line}" if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True)
        self.drawn_at = time.monotonic()
