"""Wave equation on an interval."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pdes._parameters import Number, positive
from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt
from sciml.problem import Group, HodgeForm, LinearProblem, Reference, Role, exact_reference


class Wave(LinearProblem):
    """∂²u/∂t² = c² ∂²u/∂x² on [0, 1]², u = 0 at both ends, u(x, 0) = sin(πx) + ½ sin(4πx), ∂u/∂t(x, 0) = 0.

    Solution: u = sin(πx) cos(cπt) + ½ sin(4πx) cos(4cπt). c: wave speed. The initial displacement and
    velocity are two groups, `initial` and `velocity`.

    Good values: c = 1, 2.

    Source: Wang, Yu, Perdikaris, When and why PINNs fail to train: a neural tangent kernel perspective, 2022 (c = 2).
    """

    components: ClassVar = ("u",)
    groups: ClassVar = {
        "interior": Group("interior", Role.EQUATION),
        "initial": Group("initial", Role.INITIAL, 0),
        "velocity": Group("initial", Role.INITIAL, 1),
        "left": Group("left", Role.BOUNDARY),
        "right": Group("right", Role.BOUNDARY),
    }
    time_order: ClassVar = 2

    domain: Domain
    speed: Float[Array, ""]

    def __init__(self, speed: Number = 2.0):
        self.domain = SpaceTime(Box(0, 1, ("x",)), 0, 1)
        self.speed = positive("speed", speed)

    def exact(self, z):
        x, t = jnp.pi * z
        return jnp.sin(x) * jnp.cos(self.speed * t) + jnp.sin(4 * x) * jnp.cos(4 * self.speed * t) / 2

    def source(self, z):
        return jnp.zeros((), z.dtype)

    def residuals(self, u):
        return {
            "interior": lambda z: dt(u, 2)(z) - self.speed**2 * derivative(u, 0, 2)(z),
            "initial": lambda z: u(z) - jnp.sin(jnp.pi * z[0]) - jnp.sin(4 * jnp.pi * z[0]) / 2,
            "velocity": dt(u),
            "left": u,
            "right": u,
        }

    def hodge(self):
        return HodgeForm(0, self.speed**2, jnp.zeros(()), ("left", "right"))

    def reference(self) -> Reference:
        return exact_reference(self, (101, 101))

    @classmethod
    def sample(cls, *, key):
        """A random speed, uniform from 1 to 2."""
        return cls(jax.random.uniform(key, minval=1.0, maxval=2.0))
