"""Helmholtz equation on the unit square."""

import math
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import Number, concrete, mode, positive
from sciml.domain import Box, Domain
from sciml.field import laplacian
from sciml.problem import Group, HodgeForm, LinearProblem, Reference, Role, exact_reference


class Helmholtz(LinearProblem):
    """−Δu − κ²u = f on [0, 1]², u = 0 on the boundary, f made for u = sin(mπx) sin(nπy).

    κ: wavenumber of the medium; m, n: half waves along x and y. κ²/π² must not be a sum of two positive squares (a
    resonance of the square), where the solution is not unique.

    Good values: κ = 1, m = n = 4; m = 1, n = 4.

    Source: Hao et al., PINNacle: a comprehensive benchmark of physics-informed neural networks, 2024.
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "boundary": Group("boundary", Role.BOUNDARY)}
    time_order: ClassVar = 0

    domain: Domain
    kappa: Float[Array, ""]
    modes: Float[Array, " 2"]

    def __init__(self, kappa: Number = 1.0, mode_x: Number = 4.0, mode_y: Number = 4.0):
        self.domain = Box([0, 0], [1, 1])
        self.kappa = positive("kappa", kappa)
        if concrete(kappa) and _resonant(float(kappa)):
            raise ValueError(
                f"got kappa = {kappa}, a resonance of the square, where the solution is not unique; expected kappa²/π² "
                "away from 2, 5, 8, 10, ... (sums of two positive squares)"
            )
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


def _resonant(kappa: float) -> bool:
    """Whether κ²/π² is within a millionth of i² + j² for whole i, j ≥ 1."""
    squared = (kappa / math.pi) ** 2
    near = round(squared)
    rests = [near - i * i for i in range(1, math.isqrt(near) + 1)]
    return abs(squared - near) <= 1e-6 * near and any(r > 0 and math.isqrt(r) ** 2 == r for r in rests)
