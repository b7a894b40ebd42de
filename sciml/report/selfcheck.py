"""Whether this installation computes what it should: a handful of quick checks with known answers."""

import tempfile
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.domain import Box, Domain
from sciml.field import derivative
from sciml.pinn import solve
from sciml.pinn.methods.features import features
from sciml.problem import Group, Problem, Reference, Role, exact_reference
from sciml.report.environment import environment
from sciml.report.store import load_tree, save_tree


class Outcome(NamedTuple):
    """One check: its name, whether it passed, and what was found."""

    name: str
    passed: bool
    detail: str


class _Sine(Problem):
    """-u'' = sin x on [0, pi] with zero ends, solved by sin x."""

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "boundary": Group("boundary", Role.BOUNDARY)}
    time_order: ClassVar = 0

    domain: Domain

    def __init__(self):
        self.domain = Box(0, jnp.pi, ("x",))

    def exact(self, x: Float[Array, " 1"]) -> Float[Array, ""]:
        return jnp.sin(x[0])

    def residuals(self, u):
        return {"interior": lambda x: -derivative(u, 0, 2)(x) - self.exact(x), "boundary": u}

    def reference(self) -> Reference:
        return exact_reference(self, (101,))


def self_check() -> tuple[list[Outcome], dict[str, Any]]:
    """Outcomes and the environment they were found in."""
    facts = environment()
    wide = facts["float_bits"] == 64
    outcomes = [Outcome("double precision", wide, f"{facts['float_bits']} bits")]
    matrix = jax.random.normal(jax.random.key(0), (50, 50))
    gap = float(jnp.max(jnp.abs(jnp.linalg.inv(matrix) @ matrix - jnp.eye(50))))
    outcomes.append(Outcome("linear algebra", gap < 1e-10, f"inverse times matrix off the identity by {gap:.1e}"))
    found = solve(_Sine(), method=features(sizes=(60,)), key=jax.random.key(0))
    error = found.stats["relative_l2"]
    outcomes.append(Outcome("a boundary value problem", error < 1e-8, f"relative L2 error {error:.1e}"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "field.npz"
        save_tree(path, found.field, {})
        same = bool(load_tree(path, found.field)(jnp.ones(1)) == found.field(jnp.ones(1)))
    outcomes.append(Outcome("a saved solution loads again", same, "bitwise equal" if same else "differs"))
    return outcomes, facts
