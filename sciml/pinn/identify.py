"""Unknown coefficients of a Problem from a known field: least squares over the residuals, with standard errors."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from sciml.field import Field
from sciml.pinn.least_squares import Spectrum, spectrum
from sciml.problem import Problem, check_counts, evaluate
from sciml.solution import RESULTS

_STEPS = 256


class Identified(eqx.Module):
    """Coefficients found, and how well the points determine them.

    Attributes:
        problem: the Problem with the estimates in place.
        names: of the coefficients, in the order of ``where``.
        estimates: shape (p,).
        standard_errors: from ``sigma^2 (J^T J)^-1``; infinite along directions that the points do not determine.
        sigma: root mean square residual at the estimates, with p degrees of freedom taken off.
        singular_values: of ``J / sqrt(rows)``, so that they do not depend on the number of points.
        condition: ratio of the largest of them to the smallest; it depends on the units of the coefficients.
        unit_condition: the same with the columns of J scaled to length one; large when two cannot be told apart.
        result: a member of RESULTS.
        notes: sentences on coefficients that the data leave open.
    """

    problem: Problem
    names: tuple[str, ...] = eqx.field(static=True)
    estimates: Float[Array, " p"]
    standard_errors: Float[Array, " p"]
    sigma: Float[Array, ""]
    singular_values: Float[Array, " p"]
    condition: Float[Array, ""]
    unit_condition: Float[Array, ""]
    result: RESULTS
    notes: tuple[str, ...] = eqx.field(static=True)


def identify(
    problem: Problem, field: Field, points: Mapping[str, Float[Array, "_ d"]], *, where: Callable[[Problem], Any]
) -> Identified:
    """Find coefficients c of a Problem that minimise ``sum_i |r_i(c; u)|^2`` over the given points, the field u known.

    Args:
        problem: its own values of the coefficients are where the search starts.
        field: the known u, such as a GridField of measurements.
        points: for each residual group to use, points of shape (n, d).
        where: function from the Problem to the unknown leaves (one, or a tuple), as for ``eqx.tree_at``.

    Raises:
        ValueError: unknown groups, fewer residual rows than coefficients, selected values that are not inexact array
            leaves of the problem, a residual that is not finite at the start.

    Example:
        >>> import jax
        >>> from pdes.burgers import Burgers
        >>> truth = Burgers(0.1)
        >>> points = {"interior": truth.domain.sample("interior", 100, key=jax.random.key(0))}
        >>> found = identify(Burgers(0.5), truth.exact, points, where=lambda p: p.viscosity)
        >>> found.names, round(float(found.estimates[0]), 4)
        (('viscosity',), 0.1)

    Source: Seber, Wild, Nonlinear regression, 1989. Standard errors take the residuals as independent.
    """
    positions, names = _select(problem, where)
    check_counts(problem, {g: len(z) for g, z in points.items()})
    fit = _fit(problem, field, dict(points), positions)
    if fit.jacobian.shape[0] <= len(names):
        raise ValueError(f"got {fit.jacobian.shape[0]} residual rows for {len(names)} coefficients; give more points")
    _require_finite(fit.start)
    return _judge(fit, names)


class _Fit(eqx.Module):
    """Residuals at the start; problem, coefficients, residual rows and Jacobian at the end; whether it is one."""

    start: dict[str, Float[Array, "_ _"]]
    problem: Problem
    estimates: Float[Array, " p"]
    residual: Float[Array, " n"]
    jacobian: Float[Array, "n p"]
    finished: Bool[Array, ""]


def _select(problem: Problem, where: Callable[[Problem], Any]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions of the selected leaves among the leaves of the problem, and a name for each number in them."""
    paths, tree = jax.tree_util.tree_flatten_with_path(problem)
    marks = [object() for _ in paths]
    number = {id(mark): i for i, mark in enumerate(marks)}
    picked = [number.get(id(leaf)) for leaf in jax.tree.leaves(where(jax.tree.unflatten(tree, marks)))]
    positions = tuple(i for i in picked if i is not None and eqx.is_inexact_array(paths[i][1]))
    if not picked or len(positions) < len(picked) or len(set(positions)) < len(picked):
        known = ", ".join(_name(path) for path, leaf in paths if eqx.is_inexact_array(leaf))
        raise ValueError(f"got a selection that is not made of distinct array leaves of the problem; it has {known}")
    names = []
    for path, leaf in (paths[i] for i in positions):
        places = ["".join(f"[{k}]" for k in index) for index in np.ndindex(leaf.shape)]
        names += [_name(path) + place for place in places]
    return positions, tuple(names)


def _name(path) -> str:
    return jax.tree_util.keystr(path).removeprefix(".")


def _require_finite(residuals: Mapping[str, Float[Array, "_ _"]]) -> None:
    for group, r in residuals.items():
        bad = int(jnp.sum(~jnp.all(jnp.isfinite(r), axis=1)))
        if bad:
            raise ValueError(
                f"got residuals that are not finite at {bad} of {len(r)} points of group {group!r}; expected "
                "points where the field is known and coefficients where the problem is defined"
            )


@eqx.filter_jit
def _fit(problem: Problem, field: Field, points: dict[str, Array], positions: tuple[int, ...]) -> _Fit:
    """Levenberg-Marquardt on residuals and coefficients scaled to order one by the residual and its Jacobian."""
    leaves, tree = jax.tree.flatten(problem)
    start, unravel = ravel_pytree([leaves[i] for i in positions])

    def rebuilt(c):
        moved = dict(zip(positions, unravel(c), strict=True))
        return jax.tree.unflatten(tree, [moved.get(i, leaf) for i, leaf in enumerate(leaves)])

    def rows(c):
        residuals = evaluate(rebuilt(c), field, points)
        return jnp.concatenate([r.ravel() for r in residuals.values()]), residuals

    first, slopes, residuals = _with_jacobian(rows, start)
    unit, width = _positive(jnp.linalg.norm(first)), _positive(jnp.linalg.norm(slopes, axis=0))
    tolerance = float(jnp.finfo(start.dtype).eps) ** 0.75
    solution = optx.least_squares(
        lambda y, _: rows(start + unit / width * y)[0] / unit,
        optx.LevenbergMarquardt(rtol=tolerance, atol=tolerance),
        jnp.zeros_like(start),
        max_steps=_STEPS,
        throw=False,
    )
    c = start + unit / width * solution.value
    last, slopes, _ = _with_jacobian(rows, c)
    return _Fit(residuals, rebuilt(c), c, last, slopes, solution.result == optx.RESULTS.successful)


def _with_jacobian(rows: Callable, c: Float[Array, " p"]) -> tuple[Float[Array, " n"], Float[Array, "n p"], Any]:
    value, push, aux = jax.linearize(rows, c, has_aux=True)
    return value, jax.vmap(push, out_axes=1)(jnp.eye(len(c), dtype=c.dtype)), aux


def _positive(x: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.where(x > 0, x, 1)


class _Statistics(eqx.Module):
    """``unit`` is of J with unit columns, ``values`` of ``J / sqrt(n)``; ``open`` marks directions left open."""

    sigma: Float[Array, ""]
    lengths: Float[Array, " p"]
    values: Float[Array, " p"]
    unit: Spectrum
    open: Bool[Array, " p"]
    errors: Float[Array, " p"]


@eqx.filter_jit
def _statistics(jacobian: Float[Array, "n p"], residual: Float[Array, " n"]) -> _Statistics:
    """Standard errors by singular values of the Jacobian with unit columns; J^T J would square them."""
    n, p = jacobian.shape
    eps = jnp.finfo(residual.dtype).eps
    sigma = jnp.linalg.norm(residual) / (n - p) ** 0.5
    lengths = jnp.linalg.norm(jacobian, axis=0)
    unit = spectrum(jacobian / _positive(lengths), residual)
    left_open = (unit.values <= n * eps * unit.values[0])[:, None]
    spread = jnp.linalg.norm(jnp.where(left_open, 0, unit.right / _positive(unit.values)[:, None]), axis=0)
    touched = jnp.any(left_open & (abs(unit.right) > eps**0.5), axis=0)
    errors = jnp.where(touched, jnp.inf, sigma * spread / _positive(lengths))
    return _Statistics(sigma, lengths, spectrum(jacobian / n**0.5, residual).values, unit, left_open[:, 0], errors)


def _judge(fit: _Fit, names: tuple[str, ...]) -> Identified:
    found = _statistics(fit.jacobian, fit.residual)
    open_ = np.asarray(found.open)
    directions = np.asarray(found.unit.right)[open_] / np.asarray(_positive(found.lengths))
    estimates, errors = np.asarray(fit.estimates), np.asarray(found.errors)
    return Identified(
        problem=fit.problem,
        names=names,
        estimates=fit.estimates,
        standard_errors=found.errors,
        sigma=found.sigma,
        singular_values=found.values,
        condition=found.values[0] / found.values[-1],
        unit_condition=found.unit.values[0] / found.unit.values[-1],
        result=_result(fit, bool(np.any(open_))),
        notes=(*_undetermined(names, directions, np.asarray(found.lengths)), *_uncertain(names, estimates, errors)),
    )


def _result(fit: _Fit, undetermined: bool) -> RESULTS:
    if not bool(jnp.all(jnp.isfinite(fit.estimates)) & jnp.all(jnp.isfinite(fit.residual))):
        return RESULTS.nonfinite
    if undetermined:
        return RESULTS.ill_posed
    return RESULTS.converged if bool(fit.finished) else RESULTS.budget_spent


def _undetermined(names: tuple[str, ...], directions: np.ndarray, lengths: np.ndarray) -> list[str]:
    absent = [name for name, a in zip(names, lengths, strict=True) if a == 0]
    notes = [f"{name} does not enter the residuals at these points" for name in absent]
    for direction in directions:
        moves = {name: s for name, s in zip(names, direction / np.max(np.abs(direction)), strict=True) if abs(s) > 1e-6}
        if len(moves) > 1:
            along = ", ".join(f"{s:.3g}" for s in moves.values())
            notes.append(f"the residuals do not change when ({', '.join(moves)}) move along ({along}); fix one of them")
    return notes


def _uncertain(names: tuple[str, ...], estimates: np.ndarray, errors: np.ndarray) -> list[str]:
    return [
        f"{name} = {c:.3g} has a standard error of {e:.2g}, larger than itself: these data do not tell it from zero"
        for name, c, e in zip(names, estimates, errors, strict=True)
        if np.isfinite(e) and e > abs(c)
    ]
