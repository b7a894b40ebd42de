"""Limited-memory BFGS with a zoom line search."""

import optax

from sciml.pinn.first_order import FirstOrder


def _with_line_search(_):
    return optax.lbfgs(memory_size=50)


def lbfgs(*, rows: int = 4000, width: int = 30, depth: int = 3, resample: int = 500) -> FirstOrder:
    """L-BFGS; points are kept for ``resample`` steps, since new ones invalidate the curvature pairs.

    Source: Liu, Nocedal, On the limited memory BFGS method for large scale optimization, 1989.
    """
    return FirstOrder(
        make=_with_line_search,
        learning_rate=1.0,
        rows=rows,
        width=width,
        depth=depth,
        block=20,
        resample=resample,
        rebalance=0,
        patience=2000,
    )
