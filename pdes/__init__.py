"""Benchmark problems, one PDE a file: each module here defines one Problem; adding a file is enough."""

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import cast

from pdes._parameters import Number
from sciml.problem import Problem
from sciml.wellposed import check as check


def _problem_of(module_name: str) -> type[Problem]:
    """The one concrete Problem that a module defines."""
    module = importlib.import_module(f"{__name__}.{module_name}")
    own = [v for v in vars(module).values() if inspect.isclass(v) and v.__module__ == module.__name__]
    found = [v for v in own if issubclass(v, Problem) and not inspect.isabstract(v)]
    if len(found) != 1:
        names = ", ".join(v.__name__ for v in found) or "none"
        raise ValueError(
            f"got the Problems {names} in {module.__name__}; expected one (files named _*.py are not read)"
        )
    return found[0]


def _discover() -> dict[str, type[Problem]]:
    """The Problem of every module of this folder, by module name."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return {name: _problem_of(name) for name in names if not name.startswith("_")}


ALL: dict[str, type[Problem]] = _discover()


def _unknown(kind: str, name: str, known: list[str]) -> ValueError:
    near = difflib.get_close_matches(name, known)
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    return ValueError(f"got the unknown {kind} {name!r}{hint}; expected one of {', '.join(known) or 'none'}")


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Constructor parameters of a problem, by name.

    Raises:
        ValueError: unknown problem; the known names are listed.

    Example:
        >>> list(parameters("wave"))
        ['speed']
    """
    if name not in ALL:
        raise _unknown("problem", name, list(ALL))
    return dict(inspect.signature(ALL[name]).parameters)


def make(name: str, **values: Number) -> Problem:
    """A problem by name, with parameters over its defaults.

    Raises:
        ValueError: unknown problem or parameter, or a value the problem refuses.

    Example:
        >>> type(make("poisson", wavenumber=2)).__name__
        'Poisson'
    """
    known = list(parameters(name))
    for given in values:
        if given not in known:
            raise _unknown(f"parameter of {name}", given, known)
    build = cast(Callable[..., Problem], ALL[name])
    return build(**values)
