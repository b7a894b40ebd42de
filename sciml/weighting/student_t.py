"""Student-t weights by expectation maximisation: rows far outside the bulk of their group lose their pull.

A row r of group g, with q components, is a Gaussian of unknown precision, ``r | tau ~ N(0, s^2/tau I)`` with
``tau ~ Gamma(nu/2, nu/2)``; then ``r / s`` has a Student-t distribution with nu degrees of freedom.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import gammaln

from sciml.weighting._weighting import Residuals, RowWeights, Weighting, check_residuals, mean_one, relative

NU_MIN, NU_MAX = 0.5, 100.0  # below: heavier than any data that are not zero; above: Gaussian
_LOG_NU = np.linspace(np.log(NU_MIN), np.log(NU_MAX), 60)
_SWEEPS = 3  # cheap next to the residuals, whose derivatives cost far more


class State(NamedTuple):
    """What is remembered of each group.

    Attributes:
        scale: s, in the units of the residual; 0 before the first residual that is not zero.
        nu: degrees of freedom; ``NU_MAX`` means that the group is taken as Gaussian.
        evidence: running mean of the log-likelihood a row on the grid of nu; None when nu is fixed.
        dropped: share of rows whose weight was below a fifth of the largest possible one in the last update.
    """

    scale: dict[str, Float[Array, ""]]
    nu: dict[str, Float[Array, ""]]
    evidence: dict[str, Float[Array, " k"]] | None
    dropped: dict[str, Float[Array, ""]]


class Options(NamedTuple):
    """Options of ``student_t`` as arrays."""

    nu: Float[Array, ""]
    scale_floor: Float[Array, ""]
    ratio_cap: Float[Array, ""]
    decay: Float[Array, ""]


def expected_precision(
    distance: Float[Array, " n"], nu: Float[Array, ""], components: int
) -> Float[Array, " n"]:
    """E-step ``E[tau | r] = (nu + q) / (nu + d)`` with ``d = |r|^2 / s^2`` and q components; one when nu is infinite."""
    return (1 + components / nu) / (1 + distance / nu)


def log_likelihood(distance: Float[Array, " n"], nu: Float[Array, "*k"], components: int) -> Float[Array, "*k"]:
    """Mean over rows of the t log-density of ``r / s``, at one or more nu; add ``-q log s`` for that of r."""
    q = components
    tail = jnp.mean(jnp.log1p(distance / nu[..., None]), axis=-1)
    front = jax.lax.lgamma((nu + q) / 2) - jax.lax.lgamma(nu / 2) - q / 2 * jnp.log(nu * jnp.pi)
    return front - (nu + q) / 2 * tail


def _evidence(distance: Float[Array, " n"], components: int) -> Float[Array, " k"]:
    """Log-likelihood on the grid of nu, with the front factors computed in double precision."""
    nu, q = np.exp(_LOG_NU), components
    front = gammaln((nu + q) / 2) - gammaln(nu / 2) - q / 2 * np.log(nu * np.pi)
    grid = jnp.asarray(nu, distance.dtype)
    tail = jax.lax.map(lambda v: jnp.mean(jnp.log1p(distance / v)), grid)
    return jnp.asarray(front, distance.dtype) - (grid + q) / 2 * tail
