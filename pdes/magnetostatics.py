"""Magnetostatics in a cube with perfectly conducting walls, in the vector potential."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import Number, mode
from sciml.domain import Box, Domain
from sciml.field import div, laplacian
from sciml.problem import Group, HodgeForm, LinearProblem, Reference, Role, exact_reference


class Magnetostatics(LinearProblem):
    """−ΔA = curl curl A − grad div A = J on [0, 1]³, n × A = 0 and div A = 0 on the boundary.

    Solution: A = (sin(kπy) sin(kπz), sin(kπz) sin(kπx), sin(kπx) sin(kπy)), J = 2k²π² A; div A = 0 everywhere (the
    Coulomb gauge), and B = curl A has n · B = 0 on the walls. k: half waves along each side; the permeability is 1.

    Good values: k = 1 to 4.

    Source: Arnold, Falk, Winther, Finite element exterior calculus, homological techniques, and applications, 2006.
    """

    components: ClassVar = ("ax", "ay", "az")
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "boundary": Group("boundary", Role.BOUNDARY)}
    time_order: ClassVar = 0

    domain: Domain
    wavenumber: Float[Array, ""]

    def __init__(self, wavenumber: Number = 1.0):
        self.domain = Box([0, 0, 0], [1, 1, 1])
        self.wavenumber = mode("wavenumber", wavenumber)

    def exact(self, x):
        wave = jnp.sin(self.wavenumber * jnp.pi * x)
        return jnp.roll(wave, -1) * jnp.roll(wave, -2)

    def source(self, x):
        return 2 * (self.wavenumber * jnp.pi) ** 2 * self.exact(x)

    def residuals(self, u):
        tangential = lambda x: jnp.cross(self.domain.normal("boundary", x), u(x))  # noqa: E731
        return {
            "interior": lambda x: -laplacian(u)(x) - self.source(x),
            "boundary": lambda x: jnp.append(tangential(x), div(u)(x)),
        }

    def hodge(self):
        return HodgeForm(1, jnp.ones(()), jnp.zeros(()), ("boundary",))

    def reference(self) -> Reference:
        return exact_reference(self, (21, 21, 21))

    @classmethod
    def sample(cls, *, key):
        """A random number of half waves, 1 to 4."""
        return cls(jax.random.randint(key, (), 1, 5).astype(float))
