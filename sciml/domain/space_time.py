"""Products of a spatial domain and a time interval."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.domain.base import (
    Domain,
    Meeting,
    check_region,
    require,
)
from sciml.domain.box import Box


class SpaceTime(Domain):
    """Product of a spatial domain and ``[start, end]``; time is the last coordinate.

    Regions: ``interior``, ``initial`` (t = start), ``final`` (t = end) and the spatial boundary regions at all times.
    """

    space: Domain
    times: tuple[Float[Array, ""], Float[Array, ""]]
    names: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, space: Domain, start, end, name: str = "t"):
        self.space, self.names = space, (*space.names, name)
        self.times = (jnp.asarray(start, dtype=float), jnp.asarray(end, dtype=float))
        require(self.times[0] < self.times[1], f"got the time span [{start}, {end}]; expected the start before the end")

    @property
    def lower(self):
        return jnp.append(self.space.lower, self.times[0])

    @property
    def upper(self):
        return jnp.append(self.space.upper, self.times[1])

    @property
    def periodic(self):
        return (*self.space.periodic, False)

    def regions(self):
        return ("interior", "initial", "final", *self.space.regions()[1:])

    def _in_space(self, region):
        check_region(self, region)
        return "interior" if region in ("interior", "initial", "final") else region

    def _fixed_time(self, region):
        return {"initial": self.times[0], "final": self.times[1]}.get(region)

    def sample(self, region, n, *, key):
        where, when = jax.random.split(key)
        x = self.space.sample(self._in_space(region), n, key=where)
        start, end = self.times
        fixed = self._fixed_time(region)
        t = start + (end - start) * jax.random.uniform(when, (n, 1), dtype=x.dtype)
        return jnp.concatenate([x, t if fixed is None else jnp.full_like(t, fixed)], axis=1)

    def volume(self, region):
        space = self.space.volume(self._in_space(region))
        return space if region in ("initial", "final") else space * (self.times[1] - self.times[0])

    def contains(self, x):
        return self.space.contains(x[:-1]) & (self.times[0] <= x[-1]) & (x[-1] <= self.times[1])

    def normal(self, region, x):
        return jnp.append(self.space.normal(region, x[:-1]), 0)

    def grid(self, shape):
        x = self.space.grid(shape[:-1])
        t = jnp.linspace(*self.times, shape[-1], dtype=x.dtype)
        return jnp.concatenate([jnp.repeat(x, len(t), axis=0), jnp.tile(t, len(x))[:, None]], axis=1)

    def quadrature(self, region, panels=1):
        x, w = self.space.quadrature(self._in_space(region), panels)
        fixed = self._fixed_time(region)
        t, v = Box(*self.times).quadrature("interior", panels) if fixed is None else (fixed[None, None], jnp.ones(1))
        points = jnp.concatenate([jnp.repeat(x, len(t), axis=0), jnp.tile(t, (len(x), 1))], axis=1)
        return points, jnp.outer(w, v).reshape(-1)

    def meetings(self, n):
        found = []
        for first, second, x in self.space.meetings(n):
            t = jnp.linspace(*self.times, n, dtype=x.dtype)
            found.append(
                Meeting(
                    first, second, jnp.concatenate([jnp.repeat(x, n, axis=0), jnp.tile(t, len(x))[:, None]], axis=1)
                )
            )
        for region in self.space.regions()[1:]:
            x = self.space.sample(region, n, key=jax.random.key(0))
            found.append(Meeting("initial", region, jnp.concatenate([x, jnp.full((n, 1), self.times[0])], axis=1)))
        return found
