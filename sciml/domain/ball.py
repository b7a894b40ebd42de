"""Balls: intervals, discs, balls in any dimension."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.domain.base import (
    Domain,
    check_region,
    masked_grid,
    monte_carlo,
    require,
    vector,
)


class Ball(Domain):
    """Ball (disc, interval) ``|x - centre| <= radius``; regions ``interior`` and ``boundary``."""

    centre: Float[Array, " d"]
    radius: Float[Array, ""]
    names: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, centre, radius, names: tuple[str, ...] = ("x", "y", "z")):
        self.centre, self.radius = vector("centre", centre), jnp.asarray(radius, dtype=float)
        if len(names) < self.centre.shape[0]:
            raise ValueError(f"got {len(names)} coordinate names for {self.centre.shape[0]} coordinates")
        self.names = tuple(names[: self.centre.shape[0]])
        require(self.radius > 0, f"got the radius {radius}; expected a positive number")

    @property
    def lower(self):
        return self.centre - self.radius

    @property
    def upper(self):
        return self.centre + self.radius

    @property
    def periodic(self):
        return (False,) * len(self.names)

    def regions(self):
        return ("interior", "boundary")

    def sample(self, region, n, *, key):
        check_region(self, region)
        towards, far = jax.random.split(key)
        d = len(self.names)
        x = jax.random.normal(towards, (n, d), dtype=self.centre.dtype)
        x = x / jnp.linalg.norm(x, axis=1, keepdims=True)
        if region == "interior":
            x = x * jax.random.uniform(far, (n, 1), dtype=x.dtype) ** (1 / d)
        return self.centre + self.radius * x

    def volume(self, region):
        check_region(self, region)
        d = len(self.names)
        ball = jnp.pi ** (d / 2) / jnp.exp(jax.scipy.special.gammaln(jnp.asarray(d / 2 + 1, dtype=float)))
        return ball * self.radius**d if region == "interior" else d * ball * self.radius ** (d - 1)

    def contains(self, x):
        rounding = 4 * jnp.finfo(x.dtype).eps * (jnp.max(jnp.abs(self.centre)) + self.radius)
        return jnp.linalg.norm(x - self.centre) <= self.radius + rounding

    def normal(self, region, x):
        return (x - self.centre) / jnp.linalg.norm(x - self.centre)

    def grid(self, shape):
        return masked_grid(self, shape)

    def quadrature(self, region):
        return monte_carlo(self, region)

    def meetings(self, n):
        return []
