"""The one place where flax enters: a flax NNX module as a Field."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from sciml.field import Field
from sciml.parameters import Frozen


class FlaxField(eqx.Module):
    """A flax NNX module as a pytree: parameters are trained, every other variable is held."""

    graph: Any = eqx.field(static=True)
    parameters: Any
    held: Frozen

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, "..."]:
        from flax import nnx

        value = nnx.merge(self.graph, self.parameters, self.held.value)(x)
        return value[0] if value.shape == (1,) else value


def from_flax(module: Any) -> Field:
    """Field of a flax NNX module that maps a point ``(d,)`` to ``(m,)``; an output of shape ``(1,)`` becomes a scalar.

    The Field trains, solves, saves and certifies like any other; the module itself is not changed.

    Raises:
        ValueError: not an NNX module.
    """
    from flax import nnx

    if not isinstance(module, nnx.Module):
        raise ValueError(
            f"got {type(module).__name__}; expected a flax.nnx.Module (a linen module has to be bridged to NNX first)"
        )
    graph, parameters, rest = nnx.split(module, nnx.Param, ...)
    return FlaxField(graph, parameters, Frozen(rest))
