"""Poisson equation on the unit square."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import Number, mode
from sciml.domain import Box, Domain
from sciml.field import laplacian
from sciml.problem import Group, HodgeForm, LinearProblem, Reference, Role, exact_reference


class Poisson(LinearProblem):
    """−Δu = 2k²π² sin(kπx) sin(kπy) on [0, 1]², u = 0 on the boundary.

    Solution: u = sin(kπx) sin(kπy). k: half waves along each side.

    Good values: k = 1 to 8.

    Source: Müller, Zeinhofer, Achieving high accuracy with PINNs via energy natural gradients, 2023 (k = 1).
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "boundary": Group("boundary", Role.BOUNDARY)}
    time_order: ClassVar = 0

    domain: Domain
    wavenumber: Float[Array, ""]

    def __init__(self, wavenumber: Number = 1.0):
        self.domain = Box([0, 0], [1, 1])
        self.wavenumber = mode("wavenumber", wavenumber)

    def exact(self, x):
        return jnp.prod(jnp.sin(self.wavenumber * jnp.pi * x))

    def source(self, x):
        return 2 * (self.wavenumber * jnp.pi) ** 2 * self.exact(x)

    def residuals(self, u):
        return {"interior": lambda x: -laplacian(u)(x) - self.source(x), "boundary": u}

    def hodge(self):
        return HodgeForm(0, jnp.ones(()), jnp.zeros(()), ("boundary",))

    def reference(self) -> Reference:
        return exact_reference(self, (101, 101))

    @classmethod
    def sample(cls, *, key):
        """A random number of half waves, 1 to 4."""
        return cls(jax.random.randint(key, (), 1, 5).astype(float))
