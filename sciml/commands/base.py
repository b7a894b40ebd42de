"""What commands share: their outcome, their usage errors, options from arguments, and the clock."""

import contextlib
import dataclasses
import difflib
import io
import itertools
import math
import time
from pathlib import Path
from typing import Any, get_args

import tyro

_IMPORTED = time.perf_counter()

Outcome = tuple[int, str | None, dict[str, Any]]  # exit status, text, and the object for --json


class Usage(ValueError):
    """Wrong use of the command line."""


def parse(options: type, arguments: list[str], prog: str, description: str) -> Any:
    """Options from arguments; usage errors are sentences."""
    flags = [f for f in dataclasses.fields(options) if not hasattr(f.type, "__metadata__")]  # others are positional
    known = {"--no-x64", "--help", *(f"--{f.name.replace('_', '-')}" for f in flags)}
    known |= {f"--no-{f.name.replace('_', '-')}" for f in flags if f.type is bool}
    for given in arguments:
        flag = given.split("=")[0].replace("_", "-")
        if given.startswith("--") and flag not in known:
            near = difflib.get_close_matches(flag, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise Usage(f"got the unknown option {flag} of '{prog}'{hint}; expected one of {', '.join(sorted(known))}")
    numbers = {f"--{f.name}" for f in dataclasses.fields(options) if {f.type, *get_args(f.type)} & {float, int}}
    for flag, value in itertools.pairwise(" ".join(arguments).replace("=", " ").split(" ")):
        if flag.replace("-", "_").replace("__", "--", 1) in numbers and not _is_number(value):
            raise Usage(f"got {flag} {value}; expected a number")
    helping = "--help" in arguments or "-h" in arguments
    try:
        with contextlib.nullcontext() if helping else contextlib.redirect_stderr(io.StringIO()):
            return tyro.cli(options, args=arguments, prog=prog, description=description)
    except SystemExit as stop:
        if stop.code in (0, None):
            raise
        raise Usage(f"'{prog}' could not read its arguments {' '.join(arguments)!r}; see '{prog} --help'") from stop


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def elapsed() -> float:
    """Seconds since this process began, or since this module was imported where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        import os

        started = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
        return float(Path("/proc/uptime").read_text().split()[0]) - started
    return time.perf_counter() - _IMPORTED
