"""Boxes and intervals, with periodic coordinates."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from sciml.domain.base import (
    Domain,
    Meeting,
    check_region,
    gauss,
    masked_grid,
    monte_carlo,
    product,
    require,
    tensor_grid,
    vector,
)

_FACES = (("left", "right"), ("bottom", "top"), ("back", "front"))


class Box(Domain):
    """Box ``[lower, upper]`` in any dimension; an interval is a Box with one coordinate.

    Regions: ``interior``, ``boundary`` (all faces) and the faces: left, right, bottom, top, back, front for the first
    three coordinates, ``NAME_lower`` and ``NAME_upper`` after that. Coordinates in ``wrap`` are periodic: no faces.

    Raises:
        ValueError: lower not below upper, shapes that disagree, an unknown periodic coordinate.
    """

    corners: tuple[Float[Array, " d"], Float[Array, " d"]]
    names: tuple[str, ...] = eqx.field(static=True)
    wrap: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, lower, upper, names: tuple[str, ...] = ("x", "y", "z"), wrap: tuple[str, ...] = ()):
        low = vector("lower", lower)
        high = vector("upper", upper, low.shape[0])
        if len(names) < low.shape[0]:
            raise ValueError(f"got {len(names)} coordinate names for {low.shape[0]} coordinates")
        require(jnp.all(low < high), f"got the box [{lower}, {upper}]; expected lower below upper in every coordinate")
        self.corners, self.names, self.wrap = (low, high), tuple(names[: low.shape[0]]), tuple(wrap)
        for name in wrap:
            if name not in self.names:
                raise ValueError(f"got the periodic coordinate {name!r}; expected one of {', '.join(self.names)}")

    @property
    def lower(self):
        return self.corners[0]

    @property
    def upper(self):
        return self.corners[1]

    @property
    def periodic(self):
        return tuple(name in self.wrap for name in self.names)

    def faces(self) -> dict[str, tuple[int, int]]:
        """Face name -> (coordinate, 0 for its lower and 1 for its upper end)."""
        found = {}
        for i, name in enumerate(self.names):
            pair = _FACES[i] if i < len(_FACES) else (f"{name}_lower", f"{name}_upper")
            found |= {} if name in self.wrap else {pair[0]: (i, 0), pair[1]: (i, 1)}
        return found

    def regions(self):
        faces = tuple(self.faces())
        return ("interior", "boundary", *faces) if faces else ("interior",)

    def _on_face(self, points, face):
        i, end = self.faces()[face]
        return points.at[:, i].set(self.corners[end][i])

    def sample(self, region, n, *, key):
        check_region(self, region)
        inside, choice = jax.random.split(key)
        unit = jax.random.uniform(inside, (n, len(self.names)), dtype=self.lower.dtype)
        points = self.lower + (self.upper - self.lower) * unit
        if region == "interior":
            return points
        if region != "boundary":
            return self._on_face(points, region)
        faces = tuple(self.faces())
        shares = jnp.stack([self.volume(f) for f in faces])
        picked = jax.random.choice(choice, len(faces), (n,), p=shares / shares.sum())
        stacked = jnp.stack([self._on_face(points, f) for f in faces])
        return stacked[picked, jnp.arange(n)]

    def volume(self, region):
        check_region(self, region)
        width = self.upper - self.lower
        if region == "interior":
            return jnp.prod(width)
        if region == "boundary":
            return sum((self.volume(f) for f in self.faces()), jnp.zeros((), width.dtype))
        return jnp.prod(width.at[self.faces()[region][0]].set(1))

    def contains(self, x):
        return jnp.all((self.lower <= x) & (x <= self.upper))

    def normal(self, region, x):
        check_region(self, region)
        if region in self.faces():
            i, end = self.faces()[region]
            return jnp.zeros_like(x).at[i].set(2 * end - 1)
        # nearest face, in units of the box; a corner takes its first face
        gaps = jnp.stack(
            [jnp.abs(x[i] - self.corners[e][i]) / (self.upper - self.lower)[i] for i, e in self.faces().values()]
        )
        normals = jnp.stack([self.normal(f, x) for f in self.faces()])
        return normals[jnp.argmin(gaps)]

    def grid(self, shape):
        return masked_grid(self, shape)

    def quadrature(self, region, panels=1):
        check_region(self, region)
        if region == "boundary":
            parts = [self.quadrature(f, panels) for f in self.faces()]
            return jnp.concatenate([p for p, _ in parts]), jnp.concatenate([w for _, w in parts])
        if len(self.names) > 3:
            return monte_carlo(self, region)
        rules = [gauss(a, b, panels) for a, b in zip(self.lower, self.upper, strict=True)]
        if region in self.faces():
            i, end = self.faces()[region]
            rules[i] = np.asarray(self.corners[end][i : i + 1]), np.ones(1)
        points, weights = product(rules)
        return jnp.asarray(points, self.lower.dtype), jnp.asarray(weights, self.lower.dtype)

    def meetings(self, n):
        faces = list(self.faces().items())
        found = []
        for a, (first, (i, _)) in enumerate(faces):
            for second, (j, _) in faces[a + 1 :]:
                if i != j:
                    points = tensor_grid(
                        self.lower,
                        self.upper,
                        self.periodic,
                        [n if k not in (i, j) else 1 for k in range(len(self.names))],
                    )
                    found.append(Meeting(first, second, self._on_face(self._on_face(points, first), second)))
        return found
