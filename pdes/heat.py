"""Heat equation on an interval."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import Number, positive
from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt
from sciml.problem import Group, HodgeForm, LinearProblem, Reference, Role, exact_reference


class Heat(LinearProblem):
    """∂u/∂t = D ∂²u/∂x² on [0, 1] × [0, 1], u(x, 0) = sin(πx), u = 0 at both ends.

    Solution: u = exp(−Dπ²t) sin(πx). D: diffusivity.

    Good values: D = 0.05 to 1.

    Source: Crank, The mathematics of diffusion, 1975.
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
    diffusivity: Float[Array, ""]

    def __init__(self, diffusivity: Number = 0.3):
        self.domain = SpaceTime(Box(0, 1, ("x",)), 0, 1)
        self.diffusivity = positive("diffusivity", diffusivity)

    def exact(self, z):
        x, t = z
        return jnp.exp(-self.diffusivity * jnp.pi**2 * t) * jnp.sin(jnp.pi * x)

    def source(self, z):
        return jnp.zeros((), z.dtype)

    def residuals(self, u):
        return {
            "interior": lambda z: dt(u)(z) - self.diffusivity * derivative(u, 0, 2)(z),
            "initial": lambda z: u(z) - jnp.sin(jnp.pi * z[0]),
            "left": u,
            "right": u,
        }

    def hodge(self):
        return HodgeForm(0, self.diffusivity, jnp.zeros(()), ("left", "right"))

    def reference(self) -> Reference:
        return exact_reference(self, (101, 101))

    @classmethod
    def sample(cls, *, key):
        """A random diffusivity, uniform from 0.05 to 1."""
        return cls(jax.random.uniform(key, minval=0.05, maxval=1.0))
