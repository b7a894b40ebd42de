"""Any optax transformation as a method: scanned steps on mini-batches, weights from the same residuals."""

from collections.abc import Callable, Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray

from sciml.field import Field
from sciml.parameters import trainable
from sciml.pinn.network import mlp
from sciml.pinn.rows import adaptive_sample, rms, weighted_loss
from sciml.pinn.solver import Solver, State, Trend, repeat, trend, watch
from sciml.problem import Problem, evaluate, sample
from sciml.weighting import Weighting
from sciml.weighting.balance import mean_rule, smooth


class Batch(eqx.Module):
    """Optimiser state and the points in use."""

    optimiser: optax.OptState
    points: dict[str, Array]
    trend: Trend


class FirstOrder(Solver):
    """Minimise ``sum_g factor_g mean(w |r|^2)`` by an optax transformation.

    Attributes:
        make: function of a learning rate that returns the transformation; static, so a module-level function.
        learning_rate: a number, or None for transformations with a line search, which get value, gradient and function.
        resample: steps between fresh points (1: every step).
        rebalance: steps between updates of the group factors by gradient norms (mean rule, moving average 0.9).
        adaptive: share of the equation points drawn in proportion to the residual.
    """

    make: Callable[[float], optax.GradientTransformation] = eqx.field(static=True)
    learning_rate: float
    block: int = eqx.field(static=True, default=100)
    rows: int = eqx.field(static=True, default=2000)
    width: int = eqx.field(static=True, default=64)
    depth: int = eqx.field(static=True, default=4)
    adaptive: float = eqx.field(static=True, default=0.5)
    resample: int = 1
    rebalance: int = 500
    patience: int = 20000

    def network(self, problem: Problem, *, key: PRNGKeyArray) -> Field:
        return mlp(problem, width=self.width, depth=self.depth, key=key)

    def _optimiser(self):
        return optax.with_extra_args_support(self.make(self.learning_rate))

    def start(self, problem, model, weighting, counts, *, key):
        first, later = jax.random.split(key)
        params, _ = eqx.partition(model, trainable(model))
        points = sample(problem, counts, key=first)
        residuals = evaluate(problem, model, points)
        dtype = next(iter(residuals.values())).dtype
        return State(
            model=model,
            inner=Batch(self._optimiser().init(params), points, trend(dtype)),
            weights=weighting.init(residuals),
            factors={g: jnp.ones((), dtype) for g in counts},
            key=later,
            step=jnp.zeros((), int),
            loss=jnp.asarray(jnp.inf, dtype),
            residuals=rms(residuals),
            stalled=jnp.zeros((), bool),
        )

    def advance(self, problem, weighting, counts, state, steps):
        return repeat(lambda s: self._step(problem, weighting, counts, s), state, steps)

    def turn(self, problem, state):
        return state

    def cost(self, state):
        return 1.0

    def describe(self, state):
        return f"{sum(len(z) for z in state.inner.points.values())} points"

    def _step(self, problem: Problem, weighting: Weighting, counts: Mapping[str, int], state: State) -> State:
        params, static = eqx.partition(state.model, trainable(state.model))
        points = self._points(problem, counts, state)

        def residuals_of(p):
            return evaluate(problem, eqx.combine(p, static), points)

        factors = self._factors(problem, residuals_of, params, state)

        def loss(p):
            residuals = residuals_of(p)
            row_weights, weights = weighting.update(jax.lax.stop_gradient(residuals), state.weights)
            return weighted_loss(residuals, factors, row_weights), (residuals, row_weights, weights)

        (value, (residuals, row_weights, weights)), gradient = jax.value_and_grad(loss, has_aux=True)(params)
        updates, optimiser = self._optimiser().update(
            gradient,
            state.inner.optimiser,
            params,
            value=value,
            grad=gradient,
            value_fn=lambda p: weighted_loss(residuals_of(p), factors, row_weights),
        )
        watched = watch(state.inner.trend, value)
        return State(
            model=eqx.combine(eqx.apply_updates(params, updates), static),
            inner=Batch(optimiser, points, watched),
            weights=weights,
            factors=factors,
            key=state.key,
            step=state.step + 1,
            loss=value,
            residuals=rms(residuals),
            stalled=watched.idle >= self.patience,
        )

    def _points(self, problem, counts, state):
        key = jax.random.fold_in(state.key, state.step)
        return jax.lax.cond(
            state.step % self.resample == 0,
            lambda: adaptive_sample(problem, state.model, counts, self.adaptive, 2, key=key),
            lambda: state.inner.points,
        )

    def _factors(self, problem, residuals_of, params, state):
        """Group factors by gradient norms, every ``rebalance`` steps."""

        def renewed():
            def sizes(p):
                return {g: jnp.mean(jnp.sum(r**2, axis=1)) for g, r in residuals_of(p).items()}

            gradients = jax.jacrev(sizes)(params)
            norms = {g: optax.tree.norm(tree) for g, tree in gradients.items()}
            return smooth(state.factors, mean_rule(norms), 0.9)

        due = (self.rebalance > 0) & (state.step % jnp.maximum(self.rebalance, 1) == 0)
        return jax.lax.cond(due, renewed, lambda: state.factors)
