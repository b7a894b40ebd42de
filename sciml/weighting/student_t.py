"""Student-t weights by expectation maximisation: rows far outside the bulk of their group lose their pull.

A row r of group g, with q components, is a Gaussian of unknown precision, ``r | tau ~ N(0, s^2/tau I)`` with
``tau ~ Gamma(nu/2, nu/2)``; then ``r / s`` has a Student-t distribution with nu degrees of freedom.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import gammaln

from sciml.weighting.base import Residuals, RowWeights, Weighting, check_residuals, mean_one, relative

NU_MIN, NU_MAX = 0.5, 100.0  # below: heavier than any data that are not zero; above: Gaussian
_LOG_NU = np.linspace(np.log(NU_MIN), np.log(NU_MAX), 60)
_SWEEPS = 3  # cheap next to the residuals, whose derivatives cost far more


class State(NamedTuple):
    """What is remembered of each group.

    Attributes:
        scale: s, in the units of the residual; 0 before the first residual that is not zero.
        nu: degrees of freedom; ``NU_MAX`` means that the group is taken as Gaussian.
        evidence: running mean of the log-likelihood a row on the grid of nu; None when nu is fixed.
        dropped: share of rows whose weight was below a fifth of the largest possible one in the last update.
    """

    scale: dict[str, Float[Array, ""]]
    nu: dict[str, Float[Array, ""]]
    evidence: dict[str, Float[Array, " k"]] | None
    dropped: dict[str, Float[Array, ""]]


class Options(NamedTuple):
    """Options of ``student_t`` as arrays; one of the first two is None."""

    fixed_nu: Float[Array, ""] | None
    start_nu: Float[Array, ""] | None
    scale_floor: Float[Array, ""]
    ratio_cap: Float[Array, ""]
    decay: Float[Array, ""]


class _Group(NamedTuple):
    """The fields of State for one group."""

    scale: Float[Array, ""]
    nu: Float[Array, ""]
    evidence: Float[Array, " k"] | None
    dropped: Float[Array, ""]


def expected_precision(distance: Float[Array, " n"], nu: Float[Array, ""], components: int) -> Float[Array, " n"]:
    """E-step ``E[tau | r] = (nu + q) / (nu + d)`` with ``d = |r|^2 / s^2`` and q components; one for infinite nu."""
    return (1 + components / nu) / (1 + distance / nu)


def _evidence(distance: Float[Array, " n"], components: int) -> Float[Array, " k"]:
    """Mean over rows of the t log-density of ``r / s`` at each nu of the grid."""
    nu, q = np.exp(_LOG_NU), components
    front = gammaln((nu + q) / 2) - gammaln(nu / 2) - q / 2 * np.log(nu * np.pi)
    tail = jnp.mean(jnp.log1p(distance / jnp.asarray(nu, distance.dtype)[:, None]), axis=1)
    return jnp.asarray(front, distance.dtype) - jnp.asarray((nu + q) / 2, distance.dtype) * tail


def _best_nu(evidence: Float[Array, " k"]) -> Float[Array, ""]:
    """Maximiser of the log-likelihood: the best point of the grid, refined by a parabola in log nu, inside the grid."""
    last = len(_LOG_NU) - 1
    best = jnp.argmax(evidence)
    centre = jnp.clip(best, 1, last - 1)
    left, middle, right = evidence[centre - 1], evidence[centre], evidence[centre + 1]
    bend = left - 2 * middle + right
    vertex = (left - right) / (2 * jnp.where(bend < 0, bend, -1))
    place = centre + jnp.where(bend < 0, jnp.clip(vertex, -1, 1), (best - centre).astype(bend.dtype))
    step = float(_LOG_NU[1] - _LOG_NU[0])
    return jnp.where(place >= last, jnp.asarray(NU_MAX, place.dtype), NU_MIN * jnp.exp(step * place))


def _start_scale(size: Float[Array, " n"], components: int) -> Float[Array, ""]:
    """Median of |r|, which outliers do not move; the root mean square where the median is zero."""
    middle = jnp.median(size)
    return jnp.where(middle > 0, middle, jnp.sqrt(jnp.mean(size**2))) / components**0.5


def _in_weights(group: _Group) -> Float[Array, ""]:
    """The nu that weights are made with: infinite where the estimate is at its upper bound."""
    return group.nu if group.evidence is None else jnp.where(group.nu >= NU_MAX, jnp.inf, group.nu)


def _sweep(new: _Group, old: _Group, square: Float[Array, " n"], q: int, decay: Array, floor: Array) -> _Group:
    """E-step, parameter-expanded scale, and nu at its maximum; ``square`` is |r|^2, in the units of the scale."""
    w = expected_precision(square / new.scale**2, _in_weights(new), q)
    scale = jnp.clip(jnp.sqrt(jnp.mean(w * square) / (q * jnp.mean(w))), floor, 1 / floor)
    if old.evidence is None:
        return new._replace(scale=scale)
    evidence = decay * old.evidence + (1 - decay) * _evidence(square / scale**2, q)
    return new._replace(scale=scale, nu=_best_nu(evidence), evidence=evidence)


def _update_group(r: Float[Array, "n q"], old: _Group, options: Options) -> tuple[Float[Array, " n"], _Group]:
    """Weights of mean one and the new statistics of one group; lengths are relative to the largest |r| inside."""
    q = r.shape[1]
    floor = options.scale_floor.astype(r.dtype)
    peak, size = relative(r)
    known = old.scale > 0
    decay = jnp.where(known, options.decay.astype(r.dtype), 0)
    before = jnp.where(known, old.scale / jnp.where(peak > 0, peak, 1), _start_scale(size, q))
    before = jnp.clip(before, floor, 1 / floor)
    new = jax.lax.fori_loop(
        0, _SWEEPS, lambda _, group: _sweep(group, old, size**2, q, decay, floor), old._replace(scale=before)
    )
    nu, scale = _in_weights(new), before**decay * new.scale ** (1 - decay)
    w = expected_precision((size / scale) ** 2, nu, q)
    dropped = jnp.mean((w < 0.2 * (1 + q / nu)).astype(r.dtype))
    new = new._replace(scale=scale * peak, dropped=dropped)
    # all zeros tell nothing about scale or nu, and a residual that is not finite must not spoil what is known
    tells = (peak > 0) & jnp.isfinite(peak)
    return mean_one(w), jax.tree.map(lambda a, b: jnp.where(tells, a, b), new, old)


def _group_factors(scales: dict[str, Float[Array, ""]], cap: Float[Array, ""]) -> dict[str, Float[Array, ""]]:
    """``1 / s_g^2`` over its geometric mean, clipped so that no two groups differ by more than ``cap``."""
    logs = {g: -2 * jnp.log(jnp.where(s > 0, s, 1)) for g, s in scales.items()}
    known = sum((s > 0).astype(s.dtype) for s in scales.values())
    middle = sum(logs.values()) / jnp.maximum(known, 1)
    half = jnp.log(cap) / 2
    return {
        g: jnp.where(scales[g] > 0, jnp.exp(jnp.clip(a - middle, -half, half)), 1).astype(a.dtype)
        for g, a in logs.items()
    }


def _init(residuals: Residuals, *, options: Options) -> State:
    check_residuals(residuals)
    start = options.start_nu if options.fixed_nu is None else options.fixed_nu
    zeros = {g: jnp.zeros((), r.dtype) for g, r in residuals.items()}
    evidence = {g: jnp.zeros(len(_LOG_NU), r.dtype) for g, r in residuals.items()}
    return State(
        scale=zeros,
        nu={g: jnp.asarray(start, r.dtype) for g, r in residuals.items()},
        evidence=evidence if options.fixed_nu is None else None,
        dropped=zeros,
    )


def _update(residuals: Residuals, state: State, *, options: Options) -> tuple[RowWeights, State]:
    check_residuals(residuals)
    residuals, state = jax.lax.stop_gradient((dict(residuals), state))
    weights, groups = {}, {}
    for g, r in residuals.items():
        evidence = None if state.evidence is None else state.evidence[g]
        old = _Group(state.scale[g], state.nu[g], evidence, state.dropped[g])
        weights[g], groups[g] = _update_group(r, old, options)
    factors = _group_factors({g: new.scale for g, new in groups.items()}, options.ratio_cap)
    new = State(
        scale={g: new.scale for g, new in groups.items()},
        nu={g: new.nu for g, new in groups.items()},
        evidence=None if state.evidence is None else {g: new.evidence for g, new in groups.items()},
        dropped={g: new.dropped for g, new in groups.items()},
    )
    return {g: factors[g] * w for g, w in weights.items()}, new


def student_t(
    *,
    fixed_nu: float | None = None,
    start_nu: float | None = None,
    scale_floor: float = 1e-12,
    ratio_cap: float = 1.0,
    decay: float = 0.9,
) -> Weighting:
    """Student-t weights ``w_i = (nu + q) / (nu + |r_i|^2 / s^2)``, with s and nu of each group found by EM.

    Each update makes a few sweeps of the E-step above, the parameter-expanded scale
    ``s^2 = sum(w |r|^2 / q) / sum(w)``, and nu as the maximiser of the observed log-likelihood on [0.5, 100] (ECME); at
    100 the group is taken as Gaussian and its weights are one. Weights then get mean one in each group. Meant for data
    and measured sources with outliers; in an equation group the largest residuals often carry the information, so watch
    ``dropped`` in the state.

    Args:
        fixed_nu: degrees of freedom, held.
        start_nu: where the estimate of nu starts, in [0.5, 100]; 4 when neither is given.
        scale_floor: smallest s relative to the largest |r| of the batch; without a floor the likelihood is unbounded.
        ratio_cap: largest ratio between the group factors ``1 / s_g^2``; 1 turns them off. High values let one group
            shrink its scale until the others no longer count.
        decay: share of the past in the running means of ``log s`` and of the log-likelihood of nu; 0: the batch alone.

    Raises:
        ValueError: both ``fixed_nu`` and ``start_nu``, or a number outside its range.

    Example:
        >>> import jax.numpy as jnp
        >>> residuals = {"data": jnp.array([[1.0], [-1.0], [0.5], [30.0]])}
        >>> weighting = student_t(fixed_nu=1.0)
        >>> weights, state = weighting.update(residuals, weighting.init(residuals))
        >>> bool(weights["data"][3] < 0.01), float(state.dropped["data"])
        (True, 0.25)

    Source: Lange, Little, Taylor, Robust statistical modeling using the t distribution, 1989; Liu, Rubin, ML
    estimation of the t distribution using EM and its extensions, ECM and ECME, 1995.
    """
    if fixed_nu is not None and start_nu is not None:
        raise ValueError(
            f"got both fixed_nu {fixed_nu} and start_nu {start_nu}; a held nu has no start: give one of them"
        )
    if fixed_nu is None:
        start_nu = 4.0 if start_nu is None else start_nu
        _require("start_nu", start_nu, NU_MIN <= start_nu <= NU_MAX, f"a number from {NU_MIN:g} to {NU_MAX:g}")
    else:
        _require("fixed_nu", fixed_nu, 0 < fixed_nu < math.inf, "a positive number")
    _require("scale_floor", scale_floor, 0 < scale_floor < 1, "a number between 0 and 1")
    _require("ratio_cap", ratio_cap, 1 <= ratio_cap < math.inf, "a number of at least 1")
    _require("decay", decay, 0 <= decay < 1, "a number from 0 to below 1")
    options = Options(
        fixed_nu=None if fixed_nu is None else jnp.asarray(fixed_nu, float),
        start_nu=None if start_nu is None else jnp.asarray(start_nu, float),
        scale_floor=jnp.asarray(scale_floor, float),
        ratio_cap=jnp.asarray(ratio_cap, float),
        decay=jnp.asarray(decay, float),
    )
    return Weighting(eqx.Partial(_init, options=options), eqx.Partial(_update, options=options))


def _require(name: str, value: float, holds: bool, expected: str) -> None:
    if not holds:
        raise ValueError(f"got {name} {value}; expected {expected}")
