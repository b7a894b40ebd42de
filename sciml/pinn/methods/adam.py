"""Adam with an exponentially decaying rate."""

import optax

from sciml.pinn.first_order import FirstOrder


def _decaying(learning_rate):
    return optax.adam(optax.exponential_decay(learning_rate, transition_steps=2000, decay_rate=0.9))


def adam(*, learning_rate: float = 2e-3, rows: int = 2000, width: int = 64, depth: int = 4) -> FirstOrder:
    """Adam; the rate falls by a tenth every 2,000 steps.

    Source: Kingma, Ba, Adam: a method for stochastic optimization, 2015.
    """
    return FirstOrder(make=_decaying, learning_rate=learning_rate, rows=rows, width=width, depth=depth)
