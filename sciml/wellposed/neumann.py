"""Compatibility of problems that are blind to constants.

When every residual of a steady problem ignores constants, there may be numbers s_g, one a boundary group, for which

    C(w) = integral of the equation's residual of w + sum over g of s_g (integral of the residual of w in group g)

is the same for every field w, by the divergence theorem. A solution has C = 0, so there is none unless C(0) = 0.
"""

from collections.abc import Mapping
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from sciml.domain.base import MONTE_CARLO
from sciml.problem import Problem, Role
from sciml.wellposed.probe import ZERO, Probe, Recipe, tolerance, waves

_DEVIATIONS = 6  # standard errors of a Monte Carlo integral that count as zero


class _Integral(NamedTuple):
    """Integrals of one group's residual.

    Attributes:
        zero, error: of the zero field, that is of the data, and its error.
        change, size, relative: what smooth fields add to it, the integral of what they add in absolute value, and the
            error of the former relative to the latter.
        measure: of the region.
    """

    zero: float
    error: float
    change: np.ndarray
    size: np.ndarray
    relative: float
    measure: float


def neumann(problem: Problem, probe: Probe, *, solvable: bool) -> tuple[float | None, list[str]]:
    """The defect ``C(0) / volume`` and a failure if it is not zero; None for problems that need no balance.

    The sign is that of a source: for ``-div(flux) = f + c`` with fluxes that balance ``f`` the defect is ``c``.

    Args:
        solvable: a solution is known, so that any defect is an error of quadrature.
    """
    equations = [g for g, group in problem.groups.items() if group.role is Role.EQUATION]
    if problem.time_order or len(problem.components) > 1 or len(equations) != 1 or not _ignores_constants(probe):
        return None, []
    inside, others = _integrals(problem, equations[0])
    shares = _shares(inside, others)
    if shares is None:
        return None, []
    pairs = list(zip(shares, others, strict=True))
    defect = -_direction(probe, equations[0]) * float(inside.zero + sum(s * b.zero for s, b in pairs)) / inside.measure
    error = inside.error + sum(abs(s) * (b.error + inside.relative * abs(b.zero)) for s, b in pairs)
    if solvable or abs(defect) * inside.measure <= error:
        return defect, []
    return defect, [
        f"no solution exists: sources and boundary fluxes do not balance, defect {defect:.6g} "
        "(mean source over the domain)"
    ]


def _ignores_constants(probe: Probe) -> bool:
    return all(
        bool(np.max(np.abs(probe.shifted[g] - r)) <= tolerance(r.dtype) * np.max(np.abs(r) + np.abs(probe.zero[g])))
        for g, r in probe.first.items()
    )


def _direction(probe: Probe, equation: str) -> float:
    """1 for an operator like minus the Laplacian, -1 for one like the Laplacian, told by a short wave."""
    moved = probe.fine[equation] - probe.zero[equation]
    return 1.0 if float(np.sum(moved * probe.fine_values[equation])) >= 0 else -1.0


def _shares(inside: _Integral, others: list[_Integral]) -> np.ndarray | None:
    """The numbers s that make C the same for every field, or None when there are none."""
    change, none = inside.change, np.zeros((len(inside.change), 0))
    fluxes = np.stack([b.change for b in others], axis=1) if others else none
    shares = np.linalg.lstsq(fluxes, -change, rcond=1e-6)[0]
    size = inside.size + sum(abs(s) * b.size for s, b in zip(shares, others, strict=True))
    off, slack = np.abs(change + fluxes @ shares), max(b.relative for b in (inside, *others))
    return shares if off.max() <= slack * size.max() else None


def _integrals(problem: Problem, equation: str) -> tuple[_Integral, list[_Integral]]:
    """Integrals of the equation's residual and of every other group's."""
    order = [equation, *(g for g in problem.groups if g != equation)]
    rules = {g: problem.domain.quadrature(problem.groups[g].region) for g in order}
    finer = {
        g: rules[g] if _is_random(*rules[g]) else problem.domain.quadrature(problem.groups[g].region, 2) for g in order
    }
    recipes = [ZERO, *(Recipe(4 + k, fineness=1.0 + k % 4) for k in range(len(order) + 2))]
    coarse, fine = jax.device_get((_terms(problem, rules, recipes), _terms(problem, finer, [ZERO])))
    inside, *others = (_summed(coarse[g], fine[g][0], _is_random(*rules[g]), float(rules[g][1].sum())) for g in order)
    return inside, others


def _is_random(points: Array, weights: Array) -> bool:
    """Points drawn at random have equal weights."""
    return len(points) >= MONTE_CARLO and bool(weights.min() == weights.max())


@eqx.filter_jit
def _terms(problem: Problem, rules: Mapping[str, tuple[Array, Array]], recipes) -> dict[str, Array]:
    """Weighted residuals at the points of each group's rule, a row a field."""

    def at_points(u):
        residuals = problem.residuals(u)
        return {g: w * jax.vmap(lambda x, r=residuals[g]: jnp.sum(r(x)))(z) for g, (z, w) in rules.items()}

    return jax.lax.map(at_points, waves(problem, recipes))


def _summed(coarse: np.ndarray, fine: np.ndarray, random: bool, measure: float) -> _Integral:
    data, added, eps = fine.sum(), coarse[1:] - coarse[0], float(np.finfo(fine.dtype).eps)
    chance = _DEVIATIONS * np.sqrt(np.sum(fine**2)) if random else 2 * abs(data - coarse[0].sum())
    error = float(chance + 1e3 * eps * np.abs(fine).sum())
    relative = 3e-2 if random else max(1e-6, tolerance(fine.dtype))
    return _Integral(float(data), error, added.sum(axis=1), np.abs(added).sum(axis=1), relative, measure)
