"""Simple polygons."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sciml.domain.base import (
    Domain,
    Meeting,
    Rule,
    check_region,
    gauss,
    masked_grid,
    product,
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
        require(~self._crosses_itself(), "got a polygon whose edges cross; expected vertices in order around it")

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

    def _crosses_itself(self):
        a, b = self._ends()
        # side of edge i on which each vertex j lies: two edges cross when each parts the ends of the other
        side = jnp.sign((b - a)[:, None, 0] * (a - a[:, None])[..., 1] - (b - a)[:, None, 1] * (a - a[:, None])[..., 0])
        parts = side * jnp.roll(side, -1, axis=1) < 0
        return jnp.any(parts & parts.T)

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

    def quadrature(self, region, panels=1):
        check_region(self, region)
        s, w = gauss(0, 1, panels)
        corners, dtype = np.asarray(self.vertices), self.vertices.dtype
        if region == "interior":
            parts = [_triangle_rule(corners[list(t)], s, w) for t in _triangles(corners)]
        else:
            edges = list(zip(corners, np.roll(corners, -1, axis=0), strict=True))
            chosen = edges if region == "boundary" else [edges[int(region[5:])]]
            parts = [(a + s[:, None] * (b - a), w * np.linalg.norm(b - a)) for a, b in chosen]
        points, weights = (np.concatenate(p) for p in zip(*parts, strict=True))
        return jnp.asarray(points, dtype), jnp.asarray(weights, dtype)

    def meetings(self, n):
        v = len(self.vertices)
        return [Meeting(f"edge_{(i - 1) % v}", f"edge_{i}", self.vertices[i : i + 1]) for i in range(v)]


def _twice_area(a, b, c) -> float:
    """Twice the signed area of a triangle."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _triangles(vertices: np.ndarray) -> list[tuple[int, int, int]]:
    """Ear clipping: triangles, by vertex numbers, that tile a simple polygon.

    Source: Meisters, Polygons have ears, 1975.
    """
    x, y = vertices.T
    left = list(range(len(vertices)))
    if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) < 0:
        left.reverse()
    found = []
    while len(left) > 3:
        corners = [(left[i - 1], left[i], left[(i + 1) % len(left)]) for i in range(len(left))]
        ear = next((c for c in corners if _is_ear(vertices, c, left)), None)
        if ear is None:
            raise ValueError("got a polygon whose edges cross or touch; expected a simple polygon")
        found.append(ear)
        left.remove(ear[1])
    return [*found, (left[0], left[1], left[2])]


def _is_ear(vertices: np.ndarray, corner: tuple[int, int, int], left: list[int]) -> bool:
    """Whether the corner is convex and no other vertex lies in its triangle."""
    a, b, c = vertices[list(corner)]
    others = [vertices[i] for i in left if i not in corner]
    sides = ((a, b), (b, c), (c, a))
    return _twice_area(a, b, c) >= 0 and not any(all(_twice_area(p, q, o) >= 0 for p, q in sides) for o in others)


def _triangle_rule(corners: np.ndarray, s: np.ndarray, w: np.ndarray) -> Rule:
    """Gauss rule of the square, collapsed onto a triangle: x = a + s ((1 - t) (b - a) + t (c - a))."""
    a, b, c = corners
    points, weights = product([(s, w), (s, w)])
    far, along = points.T[..., None]
    return a + far * ((1 - along) * (b - a) + along * (c - a)), weights * points[:, 0] * abs(_twice_area(a, b, c))
