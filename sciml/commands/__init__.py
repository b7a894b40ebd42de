"""The commands, one a file: a docstring for the usage and `run(arguments) -> Outcome`."""

import importlib
import pkgutil
from types import ModuleType

from sciml.commands.base import Outcome as Outcome
from sciml.commands.base import Usage as Usage

NAMES = tuple(info.name for info in pkgutil.iter_modules(__path__) if info.name != "base")


def command(name: str) -> ModuleType:
    """The module of a command. Raises Usage for a name that is none."""
    if name not in NAMES:
        raise Usage(f"got the unknown command {name!r}; expected one of {', '.join(NAMES)}")
    return importlib.import_module(f"{__name__}.{name}")
