"""Random-feature least squares for problems whose residuals are affine in the unknown."""

import math
from collections.abc import Mapping
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from sciml.field import Field
from sciml.parameters import Frozen, flatten
from sciml.pinn.least_squares import damped_steps, spectrum
from sciml.pinn.network import RandomFeatures, random_features
from sciml.pinn.rows import (
    Linearised,
    Residuals,
    balanced_factors,
    linearise,
    rms,
    row_scales,
    stack,
    weighted_loss,
)
from sciml.pinn.solver import Solver, State, repeat
from sciml.problem import Problem, Role, evaluate, sample
from sciml.weighting import Weighting

_SWEEPS = 20  # most re-weighted solves in one trial; an unweighted fit takes one


class Search(eqx.Module):
    """Where the search over model size and feature spread stands.

    Attributes:
        stage: index into ``Features.sizes``.
        trial: index into the spreads tried at this stage.
        candidate: spread of the next trial.
        spread: best spread so far.
        best: held-out loss of the model kept.
        entry: that loss when the stage began.
        zero: held-out loss of the zero field, the size of the problem's data.
    """

    stage: Array
    trial: Array
    candidate: Float[Array, ""]
    spread: Float[Array, ""]
    best: Float[Array, ""]
    entry: Float[Array, ""]
    zero: Float[Array, ""]


class Features(Solver):
    """One hidden tanh layer drawn at random, output weights by least squares, spread chosen by held-out residual.

    Each step is one trial: a spread, a solve, and the residual on points the solve has not seen. When the spreads of
    one size are tried the model grows, and the search goes on near the best spread. Robust weightings are iterated to
    a fixed point inside a trial. The method stalls at rounding, at the largest size, or when growing no longer pays.

    Attributes:
        rows: points an equation group at the largest size; smaller sizes take proportionally fewer.
        sizes: numbers of features, one a stage.
        first, later: spreads tried at the first two stages, and factors of the best spread tried after them.
        unresolved: spreads tried after them instead, as long as the residual is over 1 % of that of the zero field.
        dampings: in units of rounding, relative to the largest singular value.
        emphasis: factor of boundary, initial and data groups over the equations.
    """

    block: int = eqx.field(static=True, default=1)
    rows: int = eqx.field(static=True, default=4800)
    sizes: tuple[int, ...] = eqx.field(static=True, default=(300, 800, 1600, 2400))
    first: tuple[float, ...] = eqx.field(static=True, default=(0.5, 1.0, 1.5, 2.5, 4.0, 6.0, 9.0))
    later: tuple[float, ...] = eqx.field(static=True, default=(1.0, 1.5, 0.7))
    unresolved: tuple[float, ...] = eqx.field(static=True, default=(1.4, 1.0, 2.0))
    dampings: tuple[float, ...] = eqx.field(static=True, default=(0.3, 30.0, 3e3, 1e6))
    emphasis: float = 100.0

    def network(self, problem: Problem, *, key: PRNGKeyArray) -> Field:
        return random_features(problem, self.sizes[0], jnp.asarray(self.first[0]), key=key)

    def start(self, problem, model, weighting, counts, *, key):
        if not isinstance(model, RandomFeatures):
            raise ValueError(
                "got a network for the method features, which draws its hidden layer itself; use gauss-newton"
            )
        first, later = jax.random.split(key)
        vector, rebuild = flatten(model)
        lin = linearise(
            problem, rebuild, vector, sample(problem, {g: min(n, 256) for g, n in counts.items()}, key=first)
        )
        factors = self._factors(problem, lin)
        far, nought = jnp.asarray(jnp.inf, vector.dtype), jnp.zeros((), int)
        spread = jnp.asarray(self.first[0], vector.dtype)
        return State(
            model=model,
            inner=Search(
                nought, nought, spread, spread, far, far, weighted_loss(lin.residuals, factors, _ones(lin.residuals))
            ),
            weights=weighting.init(lin.residuals),
            factors=factors,
            key=later,
            step=nought,
            loss=far,
            residuals=rms(lin.residuals),
            stalled=jnp.zeros((), bool),
        )

    def advance(self, problem, weighting, counts, state, steps):
        return repeat(lambda s: self._trial(problem, weighting, counts, s), state, steps)

    def turn(self, problem, state):
        """Next spread; after the last one of a size, a larger model that is the same function."""
        search, dtype = state.inner, state.loss.dtype
        stage, trial = int(search.stage), int(search.trial)
        tried = self._spreads(search)
        if trial < len(tried):
            candidate = tried[trial]
            return eqx.tree_at(lambda s: s.inner.candidate, state, jnp.asarray(candidate, dtype))
        if self._finished(search):
            return eqx.tree_at(lambda s: s.stalled, state, jnp.ones((), bool))
        key = jax.random.fold_in(state.key, 2**20 + stage)
        extra = random_features(problem, self.sizes[stage + 1] - self.sizes[stage], search.spread, key=key)
        search = Search(
            search.stage + 1,
            jnp.zeros_like(search.trial),
            search.spread,
            search.spread,
            search.best,
            search.best,
            search.zero,
        )
        return eqx.tree_at(
            lambda s: (s.model, s.inner), state, (_joined(cast(RandomFeatures, state.model), extra), search)
        )

    def cost(self, state):
        return float(state.model.biases.value.shape[0]) ** 3

    def describe(self, state):
        return f"{state.model.biases.value.shape[0]} features, spread {float(state.inner.spread):.2g}"

    def _spreads(self, search: Search) -> tuple[float, ...]:
        """Spreads of this stage: a wide range, then near the best, or a middle range while nothing is resolved."""
        if int(search.stage) < 2:
            return self.first
        return tuple(f * float(search.spread) for f in self.later) if self._resolved(search) else self.unresolved

    def _resolved(self, search: Search) -> bool:
        return bool(search.entry <= 1e-4 * search.zero)

    def _finished(self, search: Search) -> bool:
        rounding = (1e5 * jnp.finfo(search.best.dtype).eps) ** 2 * search.zero
        last = int(search.stage) + 1 == len(self.sizes)
        resolved = search.best <= 1e-6 * search.zero  # an unresolved problem may need the largest size before it moves
        return last or bool(search.best <= rounding) or bool(resolved & (search.best > 0.5 * search.entry))

    def _factors(self, problem: Problem, lin: Linearised) -> dict[str, Array]:
        return balanced_factors(
            problem, lin.jacobian, dict.fromkeys((Role.BOUNDARY, Role.INITIAL, Role.DATA), self.emphasis)
        )

    def _trial(self, problem: Problem, weighting: Weighting, counts: Mapping[str, int], state: State) -> State:
        search, size = state.inner, state.model.biases.value.shape[0]
        draw, fit, test = jax.random.split(jax.random.fold_in(state.key, state.step), 3)
        part = {g: math.ceil(n * size / self.sizes[-1]) for g, n in counts.items()}
        model = random_features(problem, size, search.candidate, key=draw)
        vector, rebuild = flatten(model)
        lin = linearise(problem, rebuild, vector, sample(problem, part, key=fit))
        moves, weights = self._fit(problem, weighting, lin, state.weights)
        unseen = sample(problem, part, key=test)

        def held_out(move):
            residuals = evaluate(problem, rebuild(vector + move), unseen)
            row_weights, _ = weighting.update(residuals, weights)
            return weighted_loss(residuals, state.factors, row_weights), rms(residuals)

        losses, sizes = jax.lax.map(held_out, moves)
        index = jnp.argmin(jnp.where(jnp.isnan(losses), jnp.inf, losses))
        better = losses[index] < search.best
        chosen = (
            rebuild(vector + moves[index]),
            losses[index],
            search.candidate,
            {g: s[index] for g, s in sizes.items()},
        )
        kept = (state.model, search.best, search.spread, state.residuals)
        model, best, spread, residuals = jax.tree.map(lambda new, old: jnp.where(better, new, old), chosen, kept)
        search = Search(search.stage, search.trial + 1, search.candidate, spread, best, search.entry, search.zero)
        return State(
            model, search, weights, state.factors, state.key, state.step + 1, best, residuals, jnp.zeros((), bool)
        )

    def _fit(self, problem: Problem, weighting: Weighting, lin: Linearised, weights):
        """Damped least-squares moves, re-weighted until the weights settle."""
        factors = self._factors(problem, lin)
        dtype = next(iter(lin.residuals.values())).dtype
        dampings = jnp.asarray(self.dampings, dtype) * jnp.finfo(dtype).eps

        def solve(row_weights):
            scales = row_scales(lin.residuals, row_weights, factors)
            spec = spectrum(stack(scales, lin.jacobian), stack(scales, lin.residuals))
            return damped_steps(spec, dampings)

        def sweep(carry):
            row_weights, _, state, _, count = carry
            moves = solve(row_weights)
            fitted = {g: r + lin.jacobian[g] @ moves[0] for g, r in lin.residuals.items()}
            renewed, state = weighting.update(fitted, state)
            change = jnp.max(jnp.stack([jnp.max(jnp.abs(renewed[g] - w)) for g, w in row_weights.items()]))
            return renewed, moves, state, change, count + 1

        def unsettled(carry):
            return (carry[3] > 1e-3) & (carry[4] < _SWEEPS)

        moves = jnp.zeros((len(self.dampings), next(iter(lin.jacobian.values())).shape[2]), dtype)
        start = (_ones(lin.residuals), moves, weights, jnp.asarray(jnp.inf, dtype), jnp.zeros((), int))
        _, moves, weights, _, _ = jax.lax.while_loop(unsettled, sweep, start)
        return moves, weights


def _ones(residuals: Residuals) -> dict[str, Array]:
    return {g: jnp.ones(r.shape[0], r.dtype) for g, r in residuals.items()}


def _joined(model: RandomFeatures, extra: RandomFeatures) -> RandomFeatures:
    """The same function with more features, whose coefficients are zero."""
    return RandomFeatures(
        model.embedding,
        Frozen(jnp.concatenate([model.weights.value, extra.weights.value])),
        Frozen(jnp.concatenate([model.biases.value, extra.biases.value])),
        jnp.concatenate([model.coefficients, extra.coefficients], axis=1),
    )


def features(*, sizes: tuple[int, ...] = (300, 800, 1600, 2400)) -> Features:
    """Random-feature least squares with the given numbers of features, for linear problems.

    Source: Dwivedi, Srinivasan, Physics informed extreme learning machine (PIELM), 2020; Chen, Chi, E, Yang, Bridging
    traditional and machine learning-based algorithms for solving PDEs: the random feature method, 2022.
    """
    return Features(sizes=sizes, rows=2 * max(sizes))
