"""Problem parameters as array leaves, refused where they make no sense."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def number(name: str, value) -> Float[Array, ""]:
    """A finite number as an array leaf; traced values pass (a family under vmap)."""
    if not isinstance(value, jax.core.Tracer) and not math.isfinite(float(value)):
        raise ValueError(f"got {name} = {value}; expected a finite number")
    return jnp.asarray(value, dtype=float)


def positive(name: str, value) -> Float[Array, ""]:
    """A positive finite number as an array leaf; traced values pass."""
    if not isinstance(value, jax.core.Tracer) and not (math.isfinite(float(value)) and float(value) > 0):
        raise ValueError(f"got {name} = {value}; expected a positive number")
    return jnp.asarray(value, dtype=float)


def mode(name: str, value) -> Float[Array, ""]:
    """A whole number of half waves, at least one."""
    array = positive(name, value)
    if not isinstance(value, jax.core.Tracer) and float(value) != round(float(value)):
        raise ValueError(f"got {name} = {value}; expected a whole number, so that the boundary values vanish")
    return array
