"""Benchmark problems, one PDE a file: each module here defines one Problem; adding a file is enough."""

import difflib
import importlib
import inspect
import pkgutil

from sciml.problem import Problem
from sciml.wellposed import check as check


def _problem_of(module_name: str) -> type[Problem]:
    module = importlib.import_module(f"{__name__}.{module_name}")
    (found,) = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Problem) and value.__module__ == module.__name__
    ]
    return found


ALL: dict[str, type[Problem]] = {
    module.name: _problem_of(module.name)
    for module in pkgutil.iter_modules(__path__)
    if not module.name.startswith("_")
}


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Constructor parameters of a problem, by name.

    Raises:
        ValueError: unknown problem; the known names are listed.
    """
    if name not in ALL:
        near = difflib.get_close_matches(name, ALL, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ValueError(f"got the unknown problem {name!r}{hint}; expected one of {', '.join(ALL)}")
    return dict(inspect.signature(ALL[name]).parameters)


def make(name: str, **values: float) -> Problem:
    """A problem by name, with parameters over its defaults.

    Raises:
        ValueError: unknown problem or parameter, or a value the problem refuses.

    Example:
        >>> type(make("poisson", wavenumber=2)).__name__
        'Poisson'
    """
    known = parameters(name)
    for given in values:
        if given not in known:
            raise ValueError(f"got the unknown parameter {given!r} of {name}; expected one of {', '.join(known) or 'none'}")
    return ALL[name](**values)
