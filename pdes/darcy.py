"""Darcy flow in the unit square, in flux and pressure."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import Number, mode, positive
from sciml.domain import Box, Domain
from sciml.field import component, div, grad
from sciml.problem import Group, HodgeForm, LinearProblem, Reference, Role, exact_reference


class Darcy(LinearProblem):
    """q + κ∇p = 0, div q = 2κk²π² sin(kπx) sin(kπy) on [0, 1]², p = 0 on the boundary.

    Solution: p = sin(kπx) sin(kπy), q = −κ∇p. κ: permeability over viscosity; k: half waves along each side.

    Good values: κ = 0.01 to 100, k = 1 to 8.

    Source: Arnold, Falk, Winther, Finite element exterior calculus: from Hodge theory to numerical stability, 2010.
    """

    components: ClassVar = ("flux_x", "flux_y", "p")
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "boundary": Group("boundary", Role.BOUNDARY)}
    time_order: ClassVar = 0

    domain: Domain
    permeability: Float[Array, ""]
    wavenumber: Float[Array, ""]

    def __init__(self, permeability: Number = 1.0, wavenumber: Number = 1.0):
        self.domain = Box([0, 0], [1, 1])
        self.permeability = positive("permeability", permeability)
        self.wavenumber = mode("wavenumber", wavenumber)

    def pressure(self, x):
        """The pressure of the solution."""
        return jnp.prod(jnp.sin(self.wavenumber * jnp.pi * x))

    def exact(self, x):
        return jnp.append(-self.permeability * grad(self.pressure)(x), self.pressure(x))

    def source(self, x):
        return 2 * self.permeability * (self.wavenumber * jnp.pi) ** 2 * self.pressure(x)

    def residuals(self, u):
        flux, p = (lambda x: u(x)[:2]), component(u, 2)
        law = lambda x: flux(x) + self.permeability * grad(p)(x)  # noqa: E731
        return {"interior": lambda x: jnp.append(law(x), div(flux)(x) - self.source(x)), "boundary": p}

    def hodge(self):
        return HodgeForm(2, self.permeability, jnp.zeros(()), ())

    def reference(self) -> Reference:
        return exact_reference(self, (101, 101))

    @classmethod
    def sample(cls, *, key):
        """Permeability from 0.01 to 100 (log-uniform), 1 to 4 half waves."""
        first, second = jax.random.split(key)
        exponent = jax.random.uniform(first, minval=-2.0, maxval=2.0)
        return cls(10**exponent, jax.random.randint(second, (), 1, 5).astype(float))
