"""Fields (functions from a point to a value) and the differential operators that map Fields to Fields.

A Field takes one point ``x`` of shape ``(d,)`` and returns a scalar or a vector ``(m,)``;
batches are made by ``jax.vmap``. Every operator below is a nest of forward-mode products
(``jax.jvp``), so a derivative of order k costs k nested passes and never forms a Hessian.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Field = Callable[[Float[Array, " d"]], Float[Array, "..."]]


def index_of(which: int | str, names: Sequence[str] | None, kind: str) -> int:
    """Position of a coordinate or component given by index or by name.

    Raises ValueError listing the known names when ``which`` is not among them.
    """
    if isinstance(which, str):
        if names is None:
            raise ValueError(
                f"got the {kind} name {which!r} but no names to look it up in; pass names=(...) or an integer index"
            )
        if which not in names:
            raise ValueError(f"got the unknown {kind} {which!r}; expected one of {', '.join(names)}")
        return list(names).index(which)
    if names is not None and not -len(names) <= which < len(names):
        raise ValueError(f"got {kind} index {which}; expected one of {len(names)} ({', '.join(names)})")
    return int(which)


def component(u: Field, which: int | str, names: Sequence[str] | None = None) -> Field:
    """Scalar Field ``x -> u(x)[which]`` of a vector Field, by index or by component name.

    Example:
        >>> import jax.numpy as jnp
        >>> v = component(lambda x: jnp.stack([x[0], 2 * x[0]]), "cd", names=("ab", "cd"))
        >>> float(v(jnp.array([3.0])))
        6.0
    """
    i = index_of(which, names, "component")

    def picked(x):
        value = u(x)
        if value.ndim == 0 or not -value.shape[0] <= i < value.shape[0]:
            raise ValueError(f"got component {which!r} of a Field with values of shape {value.shape}")
        return value[i]

    return picked


def directional(u: Field, direction: Field) -> Field:
    """Directional derivative ``x -> Du(x) direction(x)``; the shape of the values is that of ``u``."""
    return lambda x: jax.jvp(u, (x,), (direction(x),))[1]


def derivative(u: Field, axis: int | str, order: int = 1, names: Sequence[str] | None = None) -> Field:
    """Partial derivative of any order, ``d^order u / dx_axis^order``, componentwise for vector Fields.

    Args:
        u: Field with values of any shape.
        axis: coordinate, by index or, with ``names``, by name.
        order: 0 returns ``u`` itself.

    Example:
        >>> import jax.numpy as jnp
        >>> float(derivative(lambda x: x[0] ** 4, 0, order=3)(jnp.array([2.0])))
        48.0
    """
    if order < 0:
        raise ValueError(f"got a derivative of order {order}; expected 0, 1, 2, ...")
    i = index_of(axis, names, "coordinate")

    def unit(x):
        if not -x.shape[0] <= i < x.shape[0]:
            raise ValueError(f"got coordinate {axis!r} of a point with {x.shape[0]} coordinates")
        return jnp.zeros_like(x).at[i].set(1)

    for _ in range(order):
        u = directional(u, unit)
    return u


def dt(u: Field, order: int = 1) -> Field:
    """Time derivative; time is the last coordinate of a space-time point."""
    return derivative(u, -1, order)


def grad(u: Field, axes: Sequence[int] | None = None) -> Field:
    """Gradient: ``(d,)`` for a scalar Field, the Jacobian ``(m, d)`` for a vector Field; ``axes`` picks coordinates."""

    def gradient(x):
        columns = [derivative(u, i)(x) for i in (range(x.shape[0]) if axes is None else axes)]
        return jnp.stack(columns, axis=-1)

    return gradient


def div(u: Field, axes: Sequence[int] | None = None) -> Field:
    """Divergence ``sum_i d u_i / d x_i`` of a vector Field with as many components as ``axes`` (default: all)."""

    def divergence(x):
        wanted = range(x.shape[0]) if axes is None else axes
        return sum((derivative(component(u, k), i)(x) for k, i in enumerate(wanted)), jnp.zeros((), x.dtype))

    return divergence


def curl(u: Field) -> Field:
    """Curl: scalar ``d_0 u_1 - d_1 u_0`` in the plane, vector in space, of a Field with d components."""

    def rotation(x):
        jacobian = grad(u)(x)
        if jacobian.shape == (2, 2):
            return jacobian[1, 0] - jacobian[0, 1]
        if jacobian.shape != (3, 3):
            raise ValueError(f"got a Field with Jacobian of shape {jacobian.shape}; curl expects (2, 2) or (3, 3)")
        anti = jacobian - jacobian.T
        return jnp.stack([anti[2, 1], anti[0, 2], anti[1, 0]])

    return rotation


def laplacian(u: Field, axes: Sequence[int] | None = None) -> Field:
    """Laplacian ``sum_i d^2 u / d x_i^2`` over ``axes`` (default: all), componentwise for vector Fields.

    Example:
        >>> import jax.numpy as jnp
        >>> u = lambda x: jnp.stack([x[0] ** 2 + x[1] ** 2, x[0] ** 2 - x[1] ** 2])
        >>> laplacian(u)(jnp.array([0.3, 3.5])).tolist()
        [4.0, 0.0]
    """

    def summed(x):
        wanted = range(x.shape[0]) if axes is None else axes
        return sum((derivative(u, i, 2)(x) for i in wanted), jnp.zeros((), x.dtype))

    return summed
