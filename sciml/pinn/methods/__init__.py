"""Methods by name: each module here defines one factory that bears its name; adding a file is enough."""

import importlib
import pkgutil
from collections.abc import Callable

from sciml.pinn.solver import Solver

METHODS: dict[str, Callable[[], Solver]] = {
    module.name.replace("_", "-"): getattr(importlib.import_module(f"{__name__}.{module.name}"), module.name)
    for module in pkgutil.iter_modules(__path__)
}
