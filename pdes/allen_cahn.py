"""Allen-Cahn equation on a circle."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pdes._parameters import Number, positive
from pdes._spectral import Equation, computed_reference
from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt
from sciml.problem import Group, Problem, Reference, Role


class AllenCahn(Problem):
    """∂u/∂t = D ∂²u/∂x² + ρ (u − u³) on [−1, 1) × [0, 1], periodic in x, u(x, 0) = x² cos(πx).

    The initial state has a kink at x = ±1, which sets the floor of any reference. D: diffusivity; ρ: reaction rate.

    Good values: D = 1e-4 to 1e-3, ρ = 5.

    Source: Wang, Sankaran, Wang, Perdikaris, An expert's guide to training physics-informed neural networks, 2023.
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "initial": Group("initial", Role.INITIAL)}
    time_order: ClassVar = 1

    domain: Domain
    diffusivity: Float[Array, ""]
    rate: Float[Array, ""]

    def __init__(self, diffusivity: Number = 1e-4, rate: Number = 5.0):
        self.domain = SpaceTime(Box(-1, 1, ("x",), wrap=("x",)), 0, 1)
        self.diffusivity = positive("diffusivity", diffusivity)
        self.rate = positive("rate", rate)

    def residuals(self, u):
        def interior(z):
            value = u(z)
            return dt(u)(z) - self.diffusivity * derivative(u, 0, 2)(z) - self.rate * (value - value**3)

        return {"interior": interior, "initial": lambda z: u(z) - z[0] ** 2 * jnp.cos(jnp.pi * z[0])}

    def equation(self) -> Equation:
        """The same equation for the Fourier solver of the reference."""
        d, rate = float(self.diffusivity), float(self.rate)
        return Equation(
            symbol=lambda k: rate - d * k**2,
            nonlinear=lambda u, k: -rate * np.fft.rfft(u**3),
            initial=lambda x: x**2 * np.cos(np.pi * x),
            lower=-1.0,
            upper=1.0,
            end=1.0,
        )

    def reference(self) -> Reference:
        return computed_reference("allen_cahn", self.equation(), modes=4096, steps=500, shape=(256, 51))
