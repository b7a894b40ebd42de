"""Problem parameters as array leaves, refused where they make no sense."""

import math

import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float

Number = float | int | Float[Array, ""]  # what a parameter may be given as; traced scalars make families


def concrete(value: Number) -> bool:
    """Whether a value is known now, so that it can be refused; traced ones (a family under vmap) pass."""
    return not isinstance(value, Tracer)


def number(name: str, value: Number) -> Float[Array, ""]:
    """A finite number as an array leaf."""
    if jnp.ndim(value) or (concrete(value) and not math.isfinite(float(value))):
        raise ValueError(f"got {name} = {value}; expected a finite number")
    return jnp.asarray(value, dtype=float)


def positive(name: str, value: Number) -> Float[Array, ""]:
    """A positive finite number as an array leaf."""
    if jnp.ndim(value) or (concrete(value) and not 0 < float(value) < math.inf):
        raise ValueError(f"got {name} = {value}; expected a positive number")
    return jnp.asarray(value, dtype=float)


def mode(name: str, value: Number) -> Float[Array, ""]:
    """A whole number of half waves, at least one."""
    array = positive(name, value)
    if concrete(value) and float(value) != round(float(value)):
        raise ValueError(f"got {name} = {value}; expected a whole number, so that the boundary values vanish")
    return array
