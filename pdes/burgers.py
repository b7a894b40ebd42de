"""Viscous Burgers equation."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pdes._parameters import positive
from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt
from sciml.problem import Group, Problem, Reference, Role

_NODES = 100  # Gauss-Hermite nodes; the reference uses twice as many and takes the difference as its floor


class Burgers(Problem):
    """∂u/∂t + u ∂u/∂x = ν ∂²u/∂x² on [−1, 1] × [0, 1], u(x, 0) = −sin(πx), u(±1, t) = 0.

    A shock of width ν forms at x = 0 near t = 1/π. Reference: the Cole-Hopf formula by Gauss-Hermite quadrature,
    u = −∫ sin(πy) F(y) e^{−s²} ds / ∫ F(y) e^{−s²} ds with y = x − 2√(νt) s and F(y) = exp(−cos(πy) / (2πν)).
    ν: viscosity.

    Good values: ν = 0.01/π, 0.01, 0.1.

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

    def __init__(self, viscosity: float = 0.01 / np.pi):
        self.domain = SpaceTime(Box(-1, 1, ("x",)), 0, 1)
        self.viscosity = positive("viscosity", viscosity)

    def exact(self, z):
        return self._cole_hopf(z, _NODES)

    def _cole_hopf(self, z, nodes: int):
        s, w = (jnp.asarray(v, z.dtype) for v in np.polynomial.hermite.hermgauss(nodes))
        y = z[0] - 2 * jnp.sqrt(self.viscosity * z[1]) * s
        share = jax.nn.softmax(jnp.log(w) - jnp.cos(jnp.pi * y) / (2 * jnp.pi * self.viscosity))
        return -jnp.sum(share * jnp.sin(jnp.pi * y))

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
        return Reference(points, fine, floor, f"Cole-Hopf, {2 * _NODES} Gauss-Hermite nodes; floor by doubling")


@eqx.filter_jit
def _cole_hopf_values(problem: Burgers, points: Float[Array, "n 2"], nodes: int) -> Float[Array, " n"]:
    return jax.vmap(lambda z: problem._cole_hopf(z, nodes))(points)
