"""Viscous Burgers equation."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pdes._parameters import Number, concrete, positive
from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt
from sciml.problem import Group, Problem, Reference, Role

_NODES = 400  # of the quadrature; the reference uses twice as many and takes the difference as its floor
_LOWEST, _HIGHEST = 1e-4, 10.0  # viscosities for which 400 nodes reach rounding


class Burgers(Problem):
    """∂u/∂t + u ∂u/∂x = ν ∂²u/∂x² on [−1, 1] × [0, 1], u(x, 0) = −sin(πx), u(±1, t) = 0.

    A shock of width ν forms at x = 0 near t = 1/π. Solution, by the Cole-Hopf transformation:
    u = −∫ sin(πy) G(y) dy / ∫ G(y) dy, G(y) = exp(−(x − y)² / (4νt) − cos(πy) / (2πν)). ν: viscosity.

    The integrals are trapezoidal sums, which converge geometrically because G is analytic and vanishes at both ends.
    Gauss-Hermite nodes would serve a narrow range of ν only: they do not follow the peak of G, and underflow.

    Good values: ν = 0.01/π, 0.01, 0.1; any from 1e-4 to 10.

    Source: Basdevant et al., Spectral and finite difference solutions of the Burgers equation, 1986.
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {
        "interior": Group("interior", Role.EQUATION),
        "initial": Group("initial", Role.INITIAL),
        "left": Group("left", Role.BOUNDARY),
        "right": Group("right", Role.BOUNDARY),
    }
    time_order: ClassVar = 1

    domain: Domain
    viscosity: Float[Array, ""]

    def __init__(self, viscosity: Number = 0.01 / np.pi):
        self.domain = SpaceTime(Box(-1, 1, ("x",)), 0, 1)
        self.viscosity = positive("viscosity", viscosity)
        if concrete(viscosity) and not _LOWEST <= viscosity <= _HIGHEST:
            raise ValueError(
                f"got viscosity = {viscosity}; expected {_LOWEST:g} to {_HIGHEST:g}, where its formula holds"
            )

    def exact(self, z):
        return self._cole_hopf(z, _NODES)

    def _cole_hopf(self, z, nodes: int):
        eps = jnp.finfo(z.dtype).eps
        x, t = z[0], z[1] + eps  # below rounding in u, and keeps the derivative of sqrt finite at t = 0
        # G decays like exp(−w²/(4νt)) at the distance t + w from x, since |u| ≤ 1
        reach = t + jnp.sqrt(-4 * np.log(eps) * self.viscosity * t)
        away = reach * jnp.linspace(-1, 1, nodes, dtype=z.dtype)
        y = x - away
        log_g = -(away**2) / (4 * self.viscosity * t) - jnp.cos(jnp.pi * y) / (2 * jnp.pi * self.viscosity)
        return -jnp.sum(jax.nn.softmax(log_g) * jnp.sin(jnp.pi * y))

    def residuals(self, u):
        return {
            "interior": lambda z: dt(u)(z) + u(z) * derivative(u, 0)(z) - self.viscosity * derivative(u, 0, 2)(z),
            "initial": lambda z: u(z) + jnp.sin(jnp.pi * z[0]),
            "left": u,
            "right": u,
        }

    def reference(self) -> Reference:
        points = self.domain.grid((201, 51))
        coarse, fine = (_cole_hopf_values(self, points, n) for n in (_NODES, 2 * _NODES))
        floor = jnp.linalg.norm(fine - coarse) / jnp.linalg.norm(fine)
        floor = max(float(floor), float(jnp.finfo(fine.dtype).eps))
        return Reference(points, fine, floor, f"Cole-Hopf, {2 * _NODES} trapezoidal nodes; floor by doubling")

    @classmethod
    def sample(cls, *, key):
        """A random viscosity, log-uniform from 0.01/π to 0.1."""
        low, high = np.log(0.01 / np.pi), np.log(0.1)
        return cls(jnp.exp(jax.random.uniform(key, minval=low, maxval=high)))


@eqx.filter_jit
def _cole_hopf_values(problem: Burgers, points: Float[Array, "n 2"], nodes: int) -> Float[Array, " n"]:
    return jax.vmap(lambda z: problem._cole_hopf(z, nodes))(points)
