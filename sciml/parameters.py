"""What is trained in a model: every inexact array that is not inside a Frozen."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float


class Frozen(eqx.Module):
    """Arrays that no solver trains (bounds, random hidden weights)."""

    value: Any


def trainable(model: Any) -> Any:
    """Filter for ``eqx.partition``: True at the inexact arrays of ``model`` that are not inside a Frozen."""

    def mark(leaf):
        return False if isinstance(leaf, Frozen) else eqx.is_inexact_array(leaf)

    return jax.tree.map(mark, model, is_leaf=lambda leaf: isinstance(leaf, Frozen))


def parameter_count(model: Any) -> int:
    """Number of trained scalars."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(model, trainable(model))))


def flatten(model: Any) -> tuple[Float[Array, " p"], Callable[[Float[Array, " p"]], Any]]:
    """Trained parameters as one vector, and the function from such a vector back to the model."""
    moving, still = eqx.partition(model, trainable(model))
    vector, unravel = ravel_pytree(moving)
    return vector, lambda v: eqx.combine(unravel(v), still)
