"""The shape of a weighting."""

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxtyping import Array, Float

Residuals = dict[str, Float[Array, "n m"]]
RowWeights = dict[str, Float[Array, " n"]]


class Weighting(NamedTuple):
    """Two pure functions on the residuals of all groups, ``{group: (n, m)}``.

    The m components of one residual at one point share one weight. Both functions are ``eqx.Partial`` of module-level
    functions with array options, so a Weighting is a pytree: another option value compiles nothing again.

    Attributes:
        init: residuals -> state.
        update: residuals, state -> (row weights ``{group: (n,)}`` with mean one in each group, state). No gradient passes.
    """

    init: Callable[[Residuals], Any]
    update: Callable[[Residuals, Any], tuple[RowWeights, Any]]
