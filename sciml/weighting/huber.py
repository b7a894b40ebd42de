"""Huber's weights: a residual's pull grows with it up to a threshold and stays constant beyond; it never falls."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.weighting.base import Residuals, RowWeights, Weighting, check_residuals, mean_one, relative


class State(NamedTuple):
    """Threshold on |r| of each group in the last update, 0 before it."""

    threshold: dict[str, Float[Array, ""]]


def _init(residuals: Residuals, *, quantile: Float[Array, ""]) -> State:
    check_residuals(residuals)
    return State({g: jnp.zeros((), r.dtype) for g, r in residuals.items()})


def _update(residuals: Residuals, state: State, *, quantile: Float[Array, ""]) -> tuple[RowWeights, State]:
    check_residuals(residuals)
    weights, thresholds = {}, {}
    for g, r in jax.lax.stop_gradient(residuals).items():
        peak, size = relative(r)
        threshold = jnp.quantile(size, quantile.astype(r.dtype))
        # where more rows than the quantile are exactly zero, the others would get weight zero
        threshold = jnp.maximum(threshold, jnp.sqrt(jnp.finfo(r.dtype).eps))
        weights[g] = mean_one(threshold / jnp.maximum(size, threshold))
        thresholds[g] = threshold * peak
    return weights, State(thresholds)


def huber(*, quantile: float = 0.95) -> Weighting:
    """Huber weights ``w = min(1, c / |r|)``, with c the given quantile of |r| in the group's batch, then mean one.

    Args:
        quantile: share of the rows that keep full weight, between 0 and 1; it must be below the share of sound rows.

    Raises:
        ValueError: a quantile that is not between 0 and 1.

    Example:
        >>> import jax.numpy as jnp
        >>> residuals = {"data": jnp.array([[1.0], [1.0], [-20.0]])}
        >>> weighting = huber(quantile=0.5)
        >>> weights, state = weighting.update(residuals, weighting.init(residuals))
        >>> round(float(weights["data"][2] / weights["data"][0]), 6), float(state.threshold["data"])
        (0.05, 1.0)

    Source: Huber, Robust estimation of a location parameter, 1964.
    """
    if not 0 < quantile < 1:
        raise ValueError(f"got the quantile {quantile}; expected a number between 0 and 1")
    options = {"quantile": jnp.asarray(quantile, float)}
    return Weighting(eqx.Partial(_init, **options), eqx.Partial(_update, **options))
