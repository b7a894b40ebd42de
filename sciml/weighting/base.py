"""What a weighting is, and what all of them share."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

Residuals = Mapping[str, Float[Array, "_ _"]]
RowWeights = dict[str, Float[Array, " _"]]


class Weighting(NamedTuple):
    """Two pure functions on the residuals of all groups, ``{group: (n, m)}``; n may differ from call to call.

    The m components of one residual at one point share one weight. Both functions are ``eqx.Partial`` of module-level
    functions with array options, so a Weighting is a pytree: pass it to jitted code as an argument, and another value
    of an option compiles nothing again.

    Attributes:
        init: residuals -> state.
        update: residuals, state -> (weights ``{group: (n,)}`` with mean one in each group, times a group factor where
            the weighting has one; state). No derivative passes through it.
    """

    init: Callable[[Residuals], Any]
    update: Callable[[Residuals, Any], tuple[RowWeights, Any]]


def check_residuals(residuals: Residuals) -> None:
    """Raise ValueError naming the group whose residuals are not a non-empty ``(n, m)`` array."""
    for group, r in residuals.items():
        if r.ndim != 2 or r.size == 0:
            raise ValueError(f"got residuals of shape {r.shape} in group {group!r}; expected (points, components)")


def relative(r: Float[Array, "n m"]) -> tuple[Float[Array, ""], Float[Array, " n"]]:
    """Largest entry ``peak`` of |r|, and the norms ``|r_i| / peak``: squares of them cannot overflow.

    Norms are zero where everything is zero; a NaN or an infinity anywhere makes every norm NaN.
    """
    peak = jnp.max(jnp.abs(r))
    unit = jnp.where(peak > 0, peak, 1)
    return peak, jnp.sqrt(jnp.sum((r / unit) ** 2, axis=1)) + jnp.where(jnp.isfinite(peak), 0, jnp.nan)


def mean_one(weights: Float[Array, " n"]) -> Float[Array, " n"]:
    """Weights divided by their mean."""
    return weights / jnp.mean(weights)
