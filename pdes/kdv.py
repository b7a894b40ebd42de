"""Korteweg-de Vries equation on a circle."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pdes._parameters import Number, positive
from pdes._spectral import Equation, computed_reference
from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt
from sciml.problem import Group, Problem, Reference, Role


class KdV(Problem):
    """∂u/∂t + u ∂u/∂x + δ ∂³u/∂x³ = 0 on [−1, 1) × [0, 1], periodic in x, u(x, 0) = cos(πx).

    The wave breaks into solitons. δ: dispersion. The means of u and of u² are constant.

    Good values: δ = 0.022² and 0.0025.

    Source: Zabusky, Kruskal, Interaction of solitons in a collisionless plasma and the recurrence of initial
    states, 1965.
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "initial": Group("initial", Role.INITIAL)}
    time_order: ClassVar = 1

    domain: Domain
    dispersion: Float[Array, ""]

    def __init__(self, dispersion: Number = 0.022**2):
        self.domain = SpaceTime(Box(-1, 1, ("x",), wrap=("x",)), 0, 1)
        self.dispersion = positive("dispersion", dispersion)

    def residuals(self, u):
        return {
            "interior": lambda z: dt(u)(z) + u(z) * derivative(u, 0)(z) + self.dispersion * derivative(u, 0, 3)(z),
            "initial": lambda z: u(z) - jnp.cos(jnp.pi * z[0]),
        }

    def equation(self) -> Equation:
        """The same equation for the Fourier solver of the reference."""
        dispersion = float(self.dispersion)
        return Equation(
            symbol=lambda k: 1j * dispersion * k**3,
            nonlinear=lambda u, k: -0.5j * k * np.fft.rfft(u**2),
            initial=lambda x: np.cos(np.pi * x),
            lower=-1.0,
            upper=1.0,
            end=1.0,
        )

    def reference(self) -> Reference:
        return computed_reference("kdv", self.equation(), modes=512, steps=20000, shape=(256, 51))
