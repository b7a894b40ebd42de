"""Domains: named regions with sampling, volumes, outward normals and the places where regions meet.

A Domain's numbers are array leaves, so a family of domains is one Domain with a leading axis; names are static.
``sample`` may be traced; ``grid``, ``quadrature`` and ``meetings`` are for the host.
"""

import abc
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, PRNGKeyArray

Points = Float[Array, "n d"]

MONTE_CARLO = 65_536  # points where no rule is known: relative error about 4e-3
GAUSS = 24  # nodes an axis and panel: polynomials of degree 47 exactly

Rule = tuple[np.ndarray, np.ndarray]


class Meeting(NamedTuple):
    """Points shared by two regions of a boundary: corners, edges, or the rim of the initial time."""

    first: str
    second: str
    points: Points


class Domain(eqx.Module):
    """Abstract. ``names`` are the coordinates' names; ``lower`` and ``upper`` the bounding box."""

    names: eqx.AbstractVar[tuple[str, ...]]

    @property
    @abc.abstractmethod
    def lower(self) -> Float[Array, " d"]:
        """Lower corner of the bounding box."""

    @property
    @abc.abstractmethod
    def upper(self) -> Float[Array, " d"]:
        """Upper corner of the bounding box."""

    @property
    @abc.abstractmethod
    def periodic(self) -> tuple[bool, ...]:
        """For each coordinate, whether its two ends are identified."""

    @abc.abstractmethod
    def regions(self) -> tuple[str, ...]:
        """Names accepted by ``sample``, ``volume`` and ``normal``."""

    @abc.abstractmethod
    def sample(self, region: str, n: int, *, key: PRNGKeyArray) -> Points:
        """``n`` uniform points of a region."""

    @abc.abstractmethod
    def volume(self, region: str) -> Float[Array, ""]:
        """Measure of a region in its own dimension (length, area, volume, or a count of points)."""

    @abc.abstractmethod
    def contains(self, x: Float[Array, " d"]) -> Bool[Array, ""]:
        """Whether a point lies in the closed domain."""

    @abc.abstractmethod
    def normal(self, region: str, x: Float[Array, " d"]) -> Float[Array, " d"]:
        """Outward unit normal at a point of a boundary region."""

    @abc.abstractmethod
    def grid(self, shape: Sequence[int]) -> Points:
        """Fixed evenly spaced points, ends included (a periodic end once); points outside are left out."""

    @abc.abstractmethod
    def quadrature(self, region: str, panels: int = 1) -> tuple[Points, Float[Array, " n"]]:
        """Points and weights that integrate smooth functions over a region.

        ``panels`` refines a rule along each axis; where no rule is known the points are random, their weights equal.
        """

    @abc.abstractmethod
    def meetings(self, n: int) -> list[Meeting]:
        """Where pairs of boundary regions meet, with up to ``n`` points each."""


def check_region(domain: Domain, region: str) -> None:
    """Raise ValueError naming the known regions when ``region`` is not one of them."""
    if region not in domain.regions():
        raise ValueError(f"got the unknown region {region!r}; expected one of {', '.join(domain.regions())}")


def vector(name: str, values, dims: int | None = None) -> Float[Array, " d"]:
    """A float vector from numbers; ValueError naming it when its shape is not that of the domain."""
    array = jnp.atleast_1d(jnp.asarray(values, dtype=float))
    if array.ndim != 1 or (dims is not None and array.shape[0] != dims):
        raise ValueError(
            f"got {name} of shape {array.shape}; expected {'one number' if dims is None else dims} a coordinate"
        )
    return array


def require(condition, message: str) -> None:
    """Raise on a concrete violation; traced values (a vmapped family) are let through."""
    if not isinstance(condition, Tracer) and not bool(condition):
        raise ValueError(message)


def tensor_grid(lower, upper, periodic, shape) -> Points:
    """Evenly spaced points of a box, ``shape[i]`` along coordinate i; a periodic end is left out."""
    axes = [np.linspace(a, b, n, endpoint=not p) for a, b, p, n in zip(lower, upper, periodic, shape, strict=True)]
    return jnp.asarray(np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes)), dtype=lower.dtype)


def masked_grid(domain: Domain, shape) -> Points:
    """Points of the bounding box's grid that lie in the domain."""
    if len(shape) != len(domain.names):
        raise ValueError(f"got a grid of {len(shape)} axes; expected {len(domain.names)} ({', '.join(domain.names)})")
    points = tensor_grid(domain.lower, domain.upper, domain.periodic, shape)
    return points[np.asarray(jax.vmap(domain.contains)(points))]


def monte_carlo(domain: Domain, region: str) -> tuple[Points, Float[Array, " n"]]:
    """A fixed uniform sample with equal weights, where no quadrature rule is known."""
    points = domain.sample(region, MONTE_CARLO, key=jax.random.key(0))
    return points, jnp.full(MONTE_CARLO, domain.volume(region) / MONTE_CARLO)


def gauss(lower, upper, panels: int) -> Rule:
    """Composite Gauss-Legendre rule on ``[lower, upper]``: nodes and weights, each of shape (24 panels,)."""
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS)
    ends = np.linspace(float(lower), float(upper), panels + 1)
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (nodes + 1)).reshape(-1), (half * weights).reshape(-1)


def product(rules: Sequence[Rule]) -> Rule:
    """Product of one-dimensional rules: points (n, d) and weights (n,)."""
    points = np.stack(np.meshgrid(*[r[0] for r in rules], indexing="ij"), -1).reshape(-1, len(rules))
    weights = np.prod(np.stack(np.meshgrid(*[r[1] for r in rules], indexing="ij"), -1), -1).reshape(-1)
    return points, weights


def rejection(domain: Domain, accept, n: int, key) -> Points:
    """``n`` of 16 n bounding-box points that are accepted; repeats the accepted ones when they are fewer than n."""
    width = domain.upper - domain.lower
    candidates = domain.lower + width * jax.random.uniform(key, (16 * n + 64, width.shape[0]), dtype=width.dtype)
    inside = jax.vmap(accept)(candidates)
    order = jnp.argsort(~inside, stable=True)
    return candidates[order[jnp.arange(n) % jnp.maximum(jnp.sum(inside), 1)]]
