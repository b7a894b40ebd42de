"""Damped linear least squares through one singular value decomposition, for many dampings at the cost of one."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class Spectrum(NamedTuple):
    """``J = U diag(values) right`` with ``coordinates = U^T r`` and ``unreachable = |r|^2 - |coordinates|^2``."""

    values: Float[Array, " k"]
    coordinates: Float[Array, " k"]
    right: Float[Array, "k p"]
    unreachable: Float[Array, ""]


def spectrum(jacobian: Float[Array, "n p"], residual: Float[Array, " n"]) -> Spectrum:
    """Singular values of J and the residual's coordinates, by QR first and the SVD of the small triangle after.

    With rows fewer than parameters the triangle is that of ``J^T`` (the kernel form). J^T J is never formed, so
    singular values are right to rounding relative to the largest, not to its square root.
    """
    n, p = jacobian.shape
    if n > p:
        triangle = jnp.linalg.qr(jnp.concatenate([jacobian, residual[:, None]], axis=1), mode="r")
        u, s, right = jnp.linalg.svd(triangle[:p, :p], full_matrices=False)
        c = u.T @ triangle[:p, p]
        return Spectrum(s, c, right, triangle[p, p] ** 2)
    q, triangle = jnp.linalg.qr(jacobian.T)
    u, s, inner = jnp.linalg.svd(triangle.T, full_matrices=False)
    return Spectrum(s, u.T @ residual, inner @ q.T, jnp.zeros((), residual.dtype))


def damped_steps(spec: Spectrum, damping: Float[Array, " l"]) -> Float[Array, "l p"]:
    """Minimisers of ``|J d + r|^2 + (damping * values[0])^2 |d|^2``, one row for each damping."""
    s, mu = spec.values, (damping * spec.values[0])[:, None]
    # s / (s^2 + mu^2) without overflow or 0/0: both are scaled by the larger
    big = jnp.maximum(s, mu)
    safe = jnp.where(big > 0, big, 1)
    factors = jnp.where(big > 0, (s / safe) / ((s / safe) ** 2 + (mu / safe) ** 2) / safe, 0)
    return -(factors * spec.coordinates) @ spec.right


def predicted(spec: Spectrum, damping: Float[Array, " l"]) -> Float[Array, " l"]:
    """Squared residual ``|J d + r|^2`` that the linear model foresees for each damped step."""
    s, mu = spec.values, (damping * spec.values[0])[:, None]
    total = s**2 + mu**2
    kept = jnp.where(total > 0, mu**2 / jnp.where(total > 0, total, 1), 1)
    return jnp.sum((kept * spec.coordinates) ** 2, axis=1) + spec.unreachable
