"""Domains with holes."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from sciml.domain.base import (
    Domain,
    check_region,
    masked_grid,
    monte_carlo,
    rejection,
    require,
)


class Difference(Domain):
    """``outer`` minus the interiors of disjoint ``holes`` that lie inside it.

    Regions: those of ``outer`` (``boundary`` is the outer boundary only), ``holes`` (all of them), ``hole_0``, ...
    """

    outer: Domain
    holes: tuple[Domain, ...]
    names: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, outer: Domain, holes: Sequence[Domain]):
        self.outer, self.holes, self.names = outer, tuple(holes), outer.names
        if not self.holes:
            raise ValueError("got no holes; expected at least one (or use the outer domain as it is)")
        for i, hole in enumerate(self.holes):
            if len(hole.names) != len(outer.names):
                raise ValueError(f"got hole {i} in {len(hole.names)} dimensions; expected {len(outer.names)}")
            rim = hole.sample("boundary", 64, key=jax.random.key(0))
            require(jnp.all(jax.vmap(outer.contains)(rim)), f"got hole {i} that reaches outside the outer domain")

    @property
    def lower(self):
        return self.outer.lower

    @property
    def upper(self):
        return self.outer.upper

    @property
    def periodic(self):
        return self.outer.periodic

    def regions(self):
        return (*self.outer.regions(), "holes", *(f"hole_{i}" for i in range(len(self.holes))))

    def _hole(self, region):
        return self.holes[int(region[5:])] if region.startswith("hole_") else None

    def sample(self, region, n, *, key):
        check_region(self, region)
        if region == "interior":
            return rejection(self, self.contains, n, key)
        hole = self._hole(region)
        if hole is not None:
            return hole.sample("boundary", n, key=key)
        if region != "holes":
            return self.outer.sample(region, n, key=key)
        which, *keys = jax.random.split(key, len(self.holes) + 1)
        shares = jnp.stack([h.volume("boundary") for h in self.holes])
        rims = jnp.stack([h.sample("boundary", n, key=k) for h, k in zip(self.holes, keys, strict=True)])
        return rims[jax.random.choice(which, len(self.holes), (n,), p=shares / shares.sum()), jnp.arange(n)]

    def volume(self, region):
        check_region(self, region)
        hole = self._hole(region)
        if hole is not None:
            return hole.volume("boundary")
        part = "boundary" if region == "holes" else "interior"
        removed = sum((h.volume(part) for h in self.holes), jnp.zeros((), self.lower.dtype))
        if region == "holes":
            return removed
        return self.outer.volume(region) - (removed if region == "interior" else 0)

    def contains(self, x):
        return self.outer.contains(x) & ~jnp.any(jnp.stack([self._strictly_inside(h, x) for h in self.holes]))

    def _strictly_inside(self, hole, x):
        # a hole's rim belongs to the domain: test the point pulled away from the hole's middle by a few roundings
        return self._about(hole, x)[1]

    def _about(self, hole, x):
        """Whether the hole contains the point moved, by a few roundings, towards its middle and away from it."""
        middle, few = (hole.lower + hole.upper) / 2, 64 * jnp.finfo(x.dtype).eps
        return [hole.contains(middle + (x - middle) * scale) for scale in (1 - few, 1 + few)]

    def normal(self, region, x):
        check_region(self, region)
        hole = self._hole(region)
        if hole is not None:
            return -hole.normal("boundary", x)
        if region != "holes":
            return self.outer.normal(region, x)
        touched = jnp.stack([jnp.any(jnp.stack(self._about(h, x))) for h in self.holes])
        normals = jnp.stack([-h.normal("boundary", x) for h in self.holes])
        return normals[jnp.argmax(touched)]

    def grid(self, shape):
        return masked_grid(self, shape)

    def quadrature(self, region, panels=1):
        check_region(self, region)
        hole = self._hole(region)
        if hole is not None:
            return hole.quadrature("boundary", panels)
        if region == "holes":
            parts = [h.quadrature("boundary", panels) for h in self.holes]
            return jnp.concatenate([p for p, _ in parts]), jnp.concatenate([w for _, w in parts])
        return monte_carlo(self, region) if region == "interior" else self.outer.quadrature(region, panels)

    def meetings(self, n):
        return self.outer.meetings(n)
