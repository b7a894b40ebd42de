"""Factors between residual groups from norms (of their gradients or Jacobians), and their moving average.

Two rules are in use and differ by a common factor, the number of groups; both make factor times norm the same in
every group. ``mean_rule`` leaves the factors near one and so keeps the meaning of a learning rate.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Scalars = Mapping[str, Float[Array, ""]]


def _shares(norms: Scalars) -> dict[str, Float[Array, ""]]:
    """Norms relative to the largest one, not below sqrt(eps), so that no factor overflows; ones if all are zero."""
    top = jnp.max(jnp.stack(list(norms.values())))
    unit = jnp.where(top > 0, top, 1)
    least = float(jnp.finfo(top.dtype).eps) ** 0.5
    return {
        g: jax.lax.stop_gradient(jnp.where(top > 0, jnp.maximum(n / unit, least), 1)).astype(n.dtype)
        for g, n in norms.items()
    }


def mean_rule(norms: Scalars) -> dict[str, Float[Array, ""]]:
    """``factor_g = mean(norms) / norm_g``: norms (1, 3) give (2, 2/3).

    A norm below sqrt(eps) of the largest counts as that, so a zero norm gives a large but finite factor; norms that are
    all zero count as equal. No derivative passes through.

    Source: Wang, Teng, Perdikaris, Understanding and mitigating gradient flow pathologies in PINNs, 2021.
    """
    shares = _shares(norms)
    return {g: sum(shares.values()) / len(shares) / share for g, share in shares.items()}


def sum_rule(norms: Scalars) -> dict[str, Float[Array, ""]]:
    """``factor_g = sum(norms) / norm_g``: norms (1, 3) give (4, 4/3). Zeros and derivatives as in ``mean_rule``.

    Source: Wang, Sankaran, Wang, Perdikaris, An expert's guide to training physics-informed neural networks, 2023.
    """
    shares = _shares(norms)
    return {g: sum(shares.values()) / share for g, share in shares.items()}


def smooth(previous: Scalars, new: Scalars, decay: float | Float[Array, ""]) -> dict[str, Float[Array, ""]]:
    """Moving average ``decay * previous + (1 - decay) * new``, group by group.

    Example:
        >>> import jax.numpy as jnp
        >>> one = jnp.ones(())
        >>> new = mean_rule({"a": one, "b": 3 * one})
        >>> {g: round(float(f), 6) for g, f in smooth({"a": one, "b": one}, new, 0.9).items()}
        {'a': 1.1, 'b': 0.966667}
    """
    return {g: (decay * previous[g] + (1 - decay) * new[g]).astype(previous[g].dtype) for g in previous}
