"""Weights of the rows of a residual group: likelihoods other than the Gaussian one, as pure functions.

Every module here, apart from ``balance`` and private ones, defines one factory that bears its name; ``ALL`` finds it, so
adding a file is enough.
"""

import importlib
import pkgutil
from collections.abc import Callable

from sciml.weighting._weighting import Weighting as Weighting
from sciml.weighting.huber import huber as huber
from sciml.weighting.least_squares import least_squares as least_squares
from sciml.weighting.student_t import student_t as student_t

ALL: dict[str, Callable[[], Weighting]] = {
    module.name.replace("_", "-"): getattr(importlib.import_module(f"{__name__}.{module.name}"), module.name)
    for module in pkgutil.iter_modules(__path__)
    if not module.name.startswith("_") and module.name != "balance"
}
