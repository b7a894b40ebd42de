"""Domains with a named set of given points."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.domain.base import (
    Domain,
    require,
)


class Sensors(Domain):
    """``inner`` with one more region, ``name``: given rows, each a point ``(d,)`` followed by measured values, if any.

    A residual group on that region receives whole rows: ``lambda z: u(z[:d]) - z[d]`` compares with a measured value.

    Raises:
        ValueError: rows of fewer than d columns, no rows, non-finite numbers, a name that is taken.
    """

    inner: Domain
    rows: Float[Array, "k c"]
    name: str = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, inner: Domain, name: str, rows):
        self.inner, self.name, self.names = inner, name, inner.names
        self.rows = jnp.asarray(rows, dtype=float)
        d = len(inner.names)
        if self.rows.ndim != 2 or self.rows.shape[0] < 1 or self.rows.shape[1] < d:
            raise ValueError(f"got rows of shape {self.rows.shape}; expected (k, {d} or more) with k at least 1")
        if name in inner.regions():
            raise ValueError(f"got the region name {name!r}, which the domain already has")
        require(jnp.all(jnp.isfinite(self.rows)), f"got non-finite rows for the region {name!r}")

    @property
    def lower(self):
        return self.inner.lower

    @property
    def upper(self):
        return self.inner.upper

    @property
    def periodic(self):
        return self.inner.periodic

    def regions(self):
        return (*self.inner.regions(), self.name)

    def sample(self, region, n, *, key):
        """All rows when ``n`` is their number, else ``n`` of them at random (with repeats when there are fewer)."""
        if region != self.name:
            return self.inner.sample(region, n, key=key)
        k = len(self.rows)
        return self.rows if n == k else self.rows[jax.random.choice(key, k, (n,), replace=n > k)]

    def volume(self, region):
        return jnp.asarray(float(len(self.rows))) if region == self.name else self.inner.volume(region)

    def contains(self, x):
        return self.inner.contains(x)

    def normal(self, region, x):
        if region == self.name:
            raise ValueError(f"the region {region!r} is a set of points and has no normal")
        return self.inner.normal(region, x)

    def grid(self, shape):
        return self.inner.grid(shape)

    def quadrature(self, region, panels=1):
        return (self.rows, jnp.ones(len(self.rows))) if region == self.name else self.inner.quadrature(region, panels)

    def meetings(self, n):
        return self.inner.meetings(n)
