"""Weights of the rows of a residual group: likelihoods other than the Gaussian one, as pure functions.

Every module here, apart from those in ``_SHARED``, defines one factory that bears its name; ``ALL`` finds it, so adding
a file is enough.
"""

import importlib
import pkgutil
from collections.abc import Callable

from sciml.weighting.base import Weighting as Weighting
from sciml.weighting.huber import huber as huber
from sciml.weighting.least_squares import least_squares as least_squares
from sciml.weighting.student_t import student_t as student_t

_SHARED = ("balance", "base")

ALL: dict[str, Callable[[], Weighting]] = {
    module.name.replace("_", "-"): getattr(importlib.import_module(f"{__name__}.{module.name}"), module.name)
    for module in pkgutil.iter_modules(__path__)
    if module.name not in _SHARED
}
