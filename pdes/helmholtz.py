"""Helmholtz equation on the unit square."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import mode, positive
from sciml.domain import Box, Domain
from sciml.field import laplacian
from sciml.problem import Group, HodgeForm, LinearProblem, Reference, Role, exact_reference


class Helmholtz(LinearProblem):
    """−Δu − κ²u = f on [0, 1]², u = 0 on the boundary, f made for u = sin(mπx) sin(nπy).

    κ: wavenumber of the medium; m, n: half waves along x and y. κ²/π² must not be a sum of two squares of whole numbers
    (a resonance of the square), where the solution is not unique.

    Good values: κ = 1, m = n = 4; m = 1, n = 4.

    Source: Hao et al., PINNacle: a comprehensive benchmark of physics-informed neural networks, 2024 (κ = 1, m = n = 4).
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "boundary": Group("boundary", Role.BOUNDARY)}
    time_order: ClassVar = 0

    domain: Domain
    kappa: Float[Array, ""]
    modes: Float[Array, " 2"]

    def __init__(self, kappa: float = 1.0, mode_x: float = 4.0, mode_y: float = 4.0):
        self.domain = Box([0, 0], [1, 1])
        self.kappa = positive("kappa", kappa)
        self.modes = jnp.stack([mode("mode_x", mode_x), mode("mode_y", mode_y)])

    def exact(self, x):
        return jnp.prod(jnp.sin(self.modes * jnp.pi * x))

    def source(self, x):
        return (jnp.sum((self.modes * jnp.pi) ** 2) - self.kappa**2) * self.exact(x)

    def residuals(self, u):
        return {"interior": lambda x: -laplacian(u)(x) - self.kappa**2 * u(x) - self.source(x), "boundary": u}

    def hodge(self):
        return HodgeForm(0, jnp.ones(()), -(self.kappa**2), ("boundary",))

    def reference(self) -> Reference:
        return exact_reference(self, (101, 101))
