"""Compatibility of problems that are blind to constants."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from sciml.problem import Problem, Role
from sciml.wellposed.probe import Probe, constant, smooth, tolerance


def neumann(problem: Problem, probe: Probe) -> tuple[float | None, list[str]]:
    """Compatibility of a steady problem whose residuals all ignore constants.

    With interior residual r and boundary residual b of such a problem there is an s with ``int r(w) + s int b(w)`` the
    same for every field w; that number over the volume is the defect, and a solution needs it to vanish.
    """
    if problem.time_order or len(problem.components) > 1 or not _ignores_constants(probe):
        return None, []
    rules = {g: problem.domain.quadrature(group.region) for g, group in problem.groups.items()}
    totals = [_integrals(problem, rules, u) for u in (None, 4, 5)]
    (r0, b0), (r1, b1), (r2, b2) = totals
    volume = float(sum(jnp.sum(w) for g, (_, w) in rules.items() if problem.groups[g].role is Role.EQUATION))
    size = max(abs(v) for pair in totals for v in pair)
    s = -(r1 - r0) / (b1 - b0) if b1 != b0 else 0.0
    sampled = any(len(w) > 100_000 for _, w in rules.values())
    slack = 2e-2 if sampled else 1e-6  # Monte Carlo or Gauss quadrature
    if abs((r2 - r0) + s * (b2 - b0)) > slack * size:
        return None, []  # not in divergence form with these boundary residuals: no compatibility condition of this kind
    defect = -(r0 + s * b0) / volume
    if abs(defect) * volume <= slack * size:
        return defect, []
    return defect, [
        f"no solution exists: sources and boundary fluxes do not balance, defect {defect:.6g} "
        "(mean source over the domain)"
    ]


def _ignores_constants(probe: Probe) -> bool:
    return all(
        bool(
            jnp.max(jnp.abs(probe.shifted[g] - r)) <= tolerance(r.dtype) * jnp.max(jnp.abs(r) + jnp.abs(probe.zero[g]))
        )
        for g, r in probe.first.items()
    )


@eqx.filter_jit
def _sums(problem: Problem, rules, seed: int | None) -> dict[str, Array]:
    """Integral of each group's residual, of the zero field (seed None) or of a smooth one."""
    fields = problem.residuals(constant(problem, 0.0) if seed is None else smooth(problem, seed))
    return {
        g: jnp.sum(w * jax.lax.map(lambda x, r=fields[g]: jnp.sum(r(x)), z, batch_size=4096))
        for g, (z, w) in rules.items()
    }


def _integrals(problem: Problem, rules, seed: int | None) -> tuple[float, float]:
    """Integrals of the equation residuals and of the other residuals."""
    totals = {g: float(v) for g, v in _sums(problem, rules, seed).items()}
    inside = sum(v for g, v in totals.items() if problem.groups[g].role is Role.EQUATION)
    return inside, sum(totals.values()) - inside
