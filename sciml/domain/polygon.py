"""Simple polygons."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.domain.base import (
    Domain,
    Meeting,
    check_region,
    masked_grid,
    monte_carlo,
    rejection,
    require,
)


class Polygon(Domain):
    """Simple polygon from its vertices in order; regions ``interior``, ``boundary``, ``edge_0`` (vertex 0 to 1), ..."""

    vertices: Float[Array, "v 2"]
    names: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, vertices, names: tuple[str, str] = ("x", "y")):
        self.vertices, self.names = jnp.asarray(vertices, dtype=float), tuple(names)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 2 or self.vertices.shape[0] < 3:
            raise ValueError(f"got vertices of shape {self.vertices.shape}; expected (v, 2) with at least 3 vertices")
        require(self._signed_area() != 0, "got a polygon of zero area; expected vertices in order around it")

    @property
    def lower(self):
        return self.vertices.min(axis=0)

    @property
    def upper(self):
        return self.vertices.max(axis=0)

    @property
    def periodic(self):
        return (False, False)

    def _ends(self):
        return self.vertices, jnp.roll(self.vertices, -1, axis=0)

    def _signed_area(self):
        (x, y), (u, v) = (p.T for p in self._ends())
        return jnp.sum(x * v - u * y) / 2

    def regions(self):
        return ("interior", "boundary", *(f"edge_{i}" for i in range(len(self.vertices))))

    def sample(self, region, n, *, key):
        check_region(self, region)
        if region == "interior":
            return rejection(self, self.contains, n, key)
        which, along = jax.random.split(key)
        a, b = self._ends()
        length = jnp.linalg.norm(b - a, axis=1)
        edge = (
            jax.random.choice(which, len(a), (n,), p=length / length.sum())
            if region == "boundary"
            else jnp.full(n, int(region[5:]))
        )
        s = jax.random.uniform(along, (n, 1), dtype=a.dtype)
        return a[edge] + s * (b - a)[edge]

    def volume(self, region):
        check_region(self, region)
        if region == "interior":
            return jnp.abs(self._signed_area())
        a, b = self._ends()
        length = jnp.linalg.norm(b - a, axis=1)
        return length.sum() if region == "boundary" else length[int(region[5:])]

    def contains(self, x):
        # crossings of the ray to the right; half-open edges count a vertex once. Points on an edge are inside.
        a, b = self._ends()
        above = (a[:, 1] > x[1]) != (b[:, 1] > x[1])
        cross = (b[:, 0] - a[:, 0]) * (x[1] - a[:, 1]) - (x[0] - a[:, 0]) * (b[:, 1] - a[:, 1])
        right = jnp.where(b[:, 1] > a[:, 1], cross > 0, cross < 0)
        return (jnp.sum(above & right) % 2 == 1) | self._on_edge(x, cross)

    def _on_edge(self, x, cross):
        a, b = self._ends()
        length = jnp.linalg.norm(b - a, axis=1)
        s = jnp.sum((x - a) * (b - a), axis=1) / length**2
        slack = 8 * jnp.finfo(x.dtype).eps
        return jnp.any((jnp.abs(cross) <= slack * length**2) & (s >= -slack) & (s <= 1 + slack))

    def normal(self, region, x):
        check_region(self, region)
        a, b = self._ends()
        tangent = (b - a) / jnp.linalg.norm(b - a, axis=1, keepdims=True)
        outward = jnp.sign(self._signed_area()) * jnp.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
        if region != "boundary":
            return outward[int(region[5:])]
        s = jnp.clip(jnp.sum((x - a) * (b - a), axis=1) / jnp.sum((b - a) ** 2, axis=1), 0, 1)
        return outward[jnp.argmin(jnp.linalg.norm(x - a - s[:, None] * (b - a), axis=1))]

    def grid(self, shape):
        return masked_grid(self, shape)

    def quadrature(self, region):
        return monte_carlo(self, region)

    def meetings(self, n):
        v = len(self.vertices)
        return [Meeting(f"edge_{(i - 1) % v}", f"edge_{i}", self.vertices[i : i + 1]) for i in range(v)]
