"""Fields from samples on a tensor grid, and the check that they start where a Problem says."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int
from scipy.interpolate import make_interp_spline

from sciml.field import Field
from sciml.problem import Problem, Role, evaluate

_POINTS = 256  # of an initial region: enough to see values in the wrong order


def b_splines(near: Float[Array, "d k"], x: Float[Array, " d"]) -> Float[Array, "d b"]:
    """Values at x of the B-splines that do not vanish there, an axis at a time, by the recursion of Cox and de Boor.

    Args:
        near: the knots around x, ``t[j - p + 1], ..., t[j + p]`` for degree p and x between ``t[j]`` and ``t[j + 1]``.
        x: one coordinate an axis.
    """
    degree = near.shape[1] // 2
    values, x = jnp.ones((len(x), 1), x.dtype), x[:, None]
    for p in range(1, degree + 1):
        left, right = near[:, degree - p : degree], near[:, degree : degree + p]
        shares = values / (right - left)
        values = jnp.pad((right - x) * shares, ((0, 0), (0, 1))) + jnp.pad((x - left) * shares, ((0, 0), (1, 0)))
    return values


class GridField(eqx.Module):
    """Scalar Field through samples on a tensor grid: the tensor-product spline that interpolates them.

    It has ``degree - 1`` continuous derivatives; a derivative of order k is off by ``O(h^(degree + 1 - k))`` in the
    interior. Outside the grid the value is NaN: nothing is known there.

    Args:
        axes: one strictly increasing array of coordinates an axis, of lengths ``n_1, ..., n_d``.
        values: samples, shape ``(n_1, ..., n_d)``; ``values[i, j]`` belongs to the point ``(axes[0][i], axes[1][j])``.
        degree: odd.
        periods: for each axis None, or the length after which the samples repeat (the repeated end is not sampled).

    Raises:
        ValueError: shapes that disagree, an axis that does not increase or is shorter than ``degree + 1``, numbers that
            are not finite, a period not longer than its axis, an even degree.

    Example:
        >>> import jax.numpy as jnp
        >>> x, t = jnp.linspace(0, 1, 11), jnp.linspace(0, 2, 21)
        >>> u = GridField((x, t), x[:, None] ** 2 * t)
        >>> round(float(u(jnp.array([0.55, 0.5]))), 6)
        0.15125

    Source: de Boor, A practical guide to splines, 1978.
    """

    knots: tuple[Float[Array, " _"], ...]
    coefficients: Float[Array, "..."]
    lower: Float[Array, " d"]
    upper: Float[Array, " d"]
    degree: int = eqx.field(static=True)
    wraps: tuple[bool, ...] = eqx.field(static=True)

    def __init__(
        self,
        axes: Sequence[ArrayLike],
        values: ArrayLike,
        *,
        degree: int = 5,
        periods: Sequence[float | None] | None = None,
    ):
        lines, samples = [np.asarray(a) for a in axes], np.asarray(values)
        lengths: list[float | None] = [*periods] if periods is not None else [None for _ in lines]
        _check(lines, samples, degree, lengths)
        dtype = jax.dtypes.canonicalize_dtype(np.result_type(samples.dtype, np.float32))
        knots, ends = [], []
        for i, (line, period) in enumerate(zip(lines, lengths, strict=True)):
            line, t, samples = _along(i, line, samples, degree, period)
            knots.append(jnp.asarray(t, dtype))
            ends.append((line[0], line[-1]))
        self.knots, self.coefficients, self.degree = tuple(knots), jnp.asarray(samples, dtype), degree
        self.wraps = tuple(period is not None for period in lengths)
        self.lower, self.upper = jnp.asarray(ends, dtype).T

    def _span(self, i: int, z: Float[Array, ""]) -> Int[Array, ""]:
        """Number of the last knot not above z that starts a piece of the spline."""
        place = jnp.searchsorted(self.knots[i], z, side="right") - 1
        return jnp.clip(place, self.degree, self.coefficients.shape[i] - 1)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, ""]:
        if x.shape != self.lower.shape:
            raise ValueError(f"got a point of shape {x.shape} for a grid of {len(self.knots)} axes")
        width = self.upper - self.lower
        x = jnp.where(jnp.asarray(self.wraps), self.lower + jnp.mod(x - self.lower, width), x)
        spans = [self._span(i, z) for i, z in enumerate(x)]
        near = [
            jax.lax.dynamic_slice_in_dim(t, j - self.degree + 1, 2 * self.degree)
            for t, j in zip(self.knots, spans, strict=True)
        ]
        corner, many = [j - self.degree for j in spans], self.degree + 1
        value = jax.lax.dynamic_slice(self.coefficients, corner, [many] * len(spans))
        for weights in b_splines(jnp.stack(near), x):
            value = jnp.tensordot(weights, value, axes=1)
        slack = 8 * jnp.finfo(x.dtype).eps * jnp.maximum(jnp.maximum(abs(self.lower), abs(self.upper)), width)
        known = jnp.all((x >= self.lower - slack) & (x <= self.upper + slack))
        return value * jnp.where(known, 1, jnp.nan)  # a product, so that derivatives outside are NaN too


def _along(i: int, line: np.ndarray, samples: np.ndarray, degree: int, period: float | None):
    """Axis with its repeated end, knots, and samples replaced by spline coefficients along axis i."""
    samples, ends = np.moveaxis(samples, i, 0), None
    if period is not None:
        line, samples, ends = np.append(line, line[0] + period), np.concatenate([samples, samples[:1]]), "periodic"
    spline = make_interp_spline(line, samples, degree, bc_type=ends)
    return line, spline.t, np.moveaxis(spline.c, 0, i)


def _check(axes: list[np.ndarray], values: np.ndarray, degree: int, periods: list[float | None]) -> None:
    if degree < 1 or degree % 2 == 0:
        raise ValueError(f"got a spline of degree {degree}; expected an odd degree: 1, 3, 5, ...")
    if len(periods) != len(axes):
        raise ValueError(f"got {len(periods)} periods for {len(axes)} axes; give one each, None where nothing repeats")
    for i, (axis, period) in enumerate(zip(axes, periods, strict=True)):
        _check_axis(i, axis, degree, period)
    expected = tuple(len(a) for a in axes)
    if values.shape != expected:
        turned = values.shape == expected[::-1]
        advice = "the array matches transposed: pass values.T, or the axes in the other order" if turned else (
            "pass one array of samples with one dimension an axis, not flattened coordinates"
        )  # fmt: skip
        raise ValueError(f"got values of shape {values.shape} on axes of lengths {expected}; {advice}")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"got {np.sum(~np.isfinite(values))} values that are not finite; expected finite samples only")


def _check_axis(i: int, axis: np.ndarray, degree: int, period: float | None) -> None:
    if axis.ndim != 1 or len(axis) < degree + 1:
        raise ValueError(
            f"got axis {i} of shape {axis.shape}; degree {degree} expects one dimension and {degree + 1} points"
        )
    if not np.all(np.isfinite(axis)):
        raise ValueError(f"got coordinates that are not finite in axis {i}; expected finite ones")
    if not np.all(np.diff(axis) > 0):
        raise ValueError(f"got axis {i} that does not increase strictly; sort it, and the samples with it")
    if period is not None and not axis[-1] - axis[0] < period < np.inf:
        raise ValueError(
            f"got the period {period} for axis {i} of length {axis[-1] - axis[0]:g}; expected a longer one, "
            "with the repeated end left out of the samples"
        )


def verify_initial(problem: Problem, field: Field, *, tolerance: float = 1e-2) -> dict[str, float]:
    """Check that measured data start where the Problem says: evaluate its INITIAL groups on the data's Field.

    Data whose positions and times were paired in the wrong order fail here.

    Args:
        problem: with at least one INITIAL group.
        field: the data as a Field, such as a GridField.
        tolerance: largest root mean square of an initial residual, relative to its own size in the interior or to that
            of the zero field, whichever is larger.

    Returns:
        The relative residual of each INITIAL group.

    Raises:
        ValueError: a group that disagrees, data that do not reach the initial region, a problem without INITIAL groups.
    """
    groups = [name for name, group in problem.groups.items() if group.role is Role.INITIAL]
    if not groups:
        raise ValueError("got a problem without INITIAL groups; there is nothing to compare the data with")
    found = {name: float(_initial_residual(problem, field, name)) for name in groups}
    for name, value in found.items():
        if not np.isfinite(value):
            raise ValueError(f"got data that are not defined in the region of the initial group {name!r}")
        if not value <= tolerance:
            raise ValueError(
                f"got data that miss the initial condition {name!r} by {value:.3g} (relative), expected at most "
                f"{tolerance:g}; check that positions and times are paired in the order of the values"
            )
    return found


@eqx.filter_jit
def _initial_residual(problem: Problem, field: Field, name: str) -> Float[Array, ""]:
    place, inside = jax.random.split(jax.random.key(0))
    points = problem.domain.sample(problem.groups[name].region, _POINTS, key=place)
    elsewhere = problem.domain.sample("interior", _POINTS, key=inside)
    many = len(problem.components)

    def squares(u, z):
        return evaluate(problem, u, {name: z})[name] ** 2

    zero = squares(lambda x: jnp.zeros((many,) if many > 1 else (), x.dtype), points)
    # the data may leave out a part of the interior, but none of the region itself
    typical = jnp.nan_to_num(jnp.nanmean(squares(field, elsewhere)))
    scale = jnp.maximum(jnp.mean(zero), typical)
    return jnp.sqrt(jnp.mean(squares(field, points)) / jnp.where(scale > 0, scale, 1))
