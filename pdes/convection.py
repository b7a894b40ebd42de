"""Convection at constant speed on a circle."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import Number, number
from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt
from sciml.problem import Group, Problem, Reference, Role, exact_reference


class Convection(Problem):
    """∂u/∂t + β ∂u/∂x = 0 on [0, 2π) × [0, 1], periodic in x, u(x, 0) = sin x.

    Solution: u = sin(x − βt). β: speed.

    Good values: β = 1 to 50 (30 is the usual one).

    Source: Krishnapriyan, Gholami, Zhe, Kirby, Mahoney, Characterizing possible failure modes in
    physics-informed neural networks, 2021.
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "initial": Group("initial", Role.INITIAL)}
    time_order: ClassVar = 1

    domain: Domain
    beta: Float[Array, ""]

    def __init__(self, beta: Number = 30.0):
        self.domain = SpaceTime(Box(0, 2 * jnp.pi, ("x",), wrap=("x",)), 0, 1)
        self.beta = number("beta", beta)

    def exact(self, z):
        x, t = z
        return jnp.sin(x - self.beta * t)

    def residuals(self, u):
        return {
            "interior": lambda z: dt(u)(z) + self.beta * derivative(u, 0)(z),
            "initial": lambda z: u(z) - jnp.sin(z[0]),
        }

    def reference(self) -> Reference:
        return exact_reference(self, (128, 101))

    @classmethod
    def sample(cls, *, key):
        """A random speed, uniform from 1 to 50."""
        return cls(jax.random.uniform(key, minval=1.0, maxval=50.0))
