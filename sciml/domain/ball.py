"""Balls: intervals, discs, balls in any dimension."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sciml.domain.base import (
    GAUSS,
    Domain,
    Rule,
    check_region,
    gauss,
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

    def quadrature(self, region, panels=1):
        check_region(self, region)
        if len(self.names) > 3:
            return monte_carlo(self, region)
        directions, areas = _directions(len(self.names), panels)
        radii, lengths = gauss(0, 1, panels) if region == "interior" else (np.ones(1), np.ones(1))
        unit = (radii[:, None, None] * directions).reshape(-1, len(self.names))
        weights = np.outer(lengths * radii ** (len(self.names) - 1), areas).reshape(-1)
        power = len(self.names) - (region != "interior")
        dtype = self.centre.dtype
        return self.centre + self.radius * jnp.asarray(unit, dtype), self.radius**power * jnp.asarray(weights, dtype)

    def meetings(self, n):
        return []


def _directions(dims: int, panels: int) -> Rule:
    """Points of the unit sphere in 1, 2 or 3 dimensions and their weights."""
    if dims == 1:
        return np.array([[-1.0], [1.0]]), np.ones(2)
    many = 2 * GAUSS * panels
    angle = 2 * np.pi * np.arange(many) / many
    circle, weights = np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(many, 2 * np.pi / many)
    if dims == 2:
        return circle, weights
    height, parts = gauss(-1, 1, panels)
    across = (np.sqrt(1 - height**2)[:, None, None] * circle).reshape(-1, 2)
    return np.column_stack([across, np.repeat(height, many)]), np.outer(parts, weights).reshape(-1)
