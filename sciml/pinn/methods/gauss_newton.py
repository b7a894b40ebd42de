"""Gauss-Newton with trust-ratio damping: many dampings probed in one evaluation, fresh points each step."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from sciml.field import Field
from sciml.parameters import flatten
from sciml.pinn.least_squares import damped_steps, predicted, spectrum
from sciml.pinn.network import mlp
from sciml.pinn.rows import adaptive_sample, balanced_factors, linearise, rms, row_scales, stack
from sciml.pinn.solver import Solver, State, Trend, repeat, rested, trend, watch
from sciml.problem import Problem, Role, evaluate, sample
from sciml.weighting import Weighting

_FEW = 256  # points a group that balance the groups at the start


class Damping(eqx.Module):
    """What one step hands to the next.

    Attributes:
        value: damping last used, relative to the largest singular value.
        move: the last move.
        points: the batch of the next step.
        doubled: how often the batch has been doubled.
        trend: of the loss.
    """

    value: Float[Array, ""]
    move: Float[Array, " p"]
    points: dict[str, Array]
    doubled: Int[Array, ""]
    trend: Trend


class GaussNewton(Solver):
    """Minimise ``sum_g factor_g mean(w |r|^2)`` by damped steps with momentum.

        d = argmin |J d + r|^2 + (damping s_1)^2 |d - momentum d_last|^2,    s_1 the largest singular value of J

    Each step draws points, factorises J once, evaluates the true loss at ``probes`` dampings around the last one and
    takes the smallest whose actual reduction is at least ``ratio`` times the predicted one; with none, damping rises.

    Attributes:
        rows: points an equation group and step.
        ratio: accepted share of the predicted reduction; low values move boldly.
        momentum: share of the last move that damping pulls towards, instead of towards no move; it carries what
            earlier batches taught into directions that this batch leaves open.
        adaptive: share of the equation points drawn in proportion to the residual.
        doublings: how often the number of points may double.
        patience: steps without a 2 % lower smoothed loss after which the points double or, at their largest number,
            the method calls itself stalled.
    """

    block: int = eqx.field(static=True, default=1)
    rows: int = eqx.field(static=True, default=2000)
    width: int = eqx.field(static=True, default=20)
    depth: int = eqx.field(static=True, default=3)
    probes: int = eqx.field(static=True, default=9)
    adaptive: float = eqx.field(static=True, default=0.5)
    ratio: float = 0.15
    momentum: float = 0.9
    equation: float = 0.1
    doublings: int = eqx.field(static=True, default=2)
    patience: int = 40

    def network(self, problem: Problem, *, key: PRNGKeyArray) -> Field:
        return mlp(problem, width=self.width, depth=self.depth, key=key)

    def start(self, problem, model, weighting, counts, *, key):
        first, later = jax.random.split(key)
        vector, rebuild = flatten(model)
        points = sample(problem, counts, key=first)
        lin = linearise(problem, rebuild, vector, {g: z[:_FEW] for g, z in points.items()})
        factors = balanced_factors(problem, lin.jacobian, {Role.EQUATION: self.equation})
        dtype = vector.dtype
        return State(
            model=model,
            inner=Damping(jnp.asarray(1e-2, dtype), jnp.zeros_like(vector), points, jnp.zeros((), int), trend(dtype)),
            weights=weighting.init(lin.residuals),
            factors=factors,
            key=later,
            step=jnp.zeros((), int),
            loss=jnp.asarray(jnp.inf, dtype),
            residuals=rms(lin.residuals),
            stalled=jnp.zeros((), bool),
        )

    def advance(self, problem, weighting, counts, state, steps):
        return repeat(lambda s: self._step(problem, weighting, s), state, steps)

    def turn(self, problem, state):
        """Twice the points when the loss no longer falls: what is left is the noise of the batches."""
        points, watched = state.inner.points, state.inner.trend
        doubled = int(state.inner.doubled)
        if int(watched.idle) < self.patience or doubled == self.doublings:
            return state
        counts = {g: len(z) * (1 if problem.groups[g].role is Role.DATA else 2) for g, z in points.items()}
        wider = sample(problem, counts, key=jax.random.fold_in(state.key, 2**20 + doubled))
        inner = Damping(state.inner.value, state.inner.move, wider, state.inner.doubled + 1, rested(watched))
        return eqx.tree_at(lambda s: (s.inner, s.stalled), state, (inner, jnp.zeros((), bool)))

    def cost(self, state):
        return float(sum(len(z) for z in state.inner.points.values()))

    def describe(self, state):
        return f"{self.cost(state):.0f} points, damping {float(state.inner.value):.0e}"

    def _step(self, problem: Problem, weighting: Weighting, state: State) -> State:
        points = state.inner.points
        vector, rebuild = flatten(state.model)
        lin = linearise(problem, rebuild, vector, points)
        row_weights, weights = weighting.update(lin.residuals, state.weights)
        scales = row_scales(lin.residuals, row_weights, state.factors)
        residual, jacobian = stack(scales, lin.residuals), stack(scales, lin.jacobian)
        carried = self.momentum * state.inner.move
        spec = spectrum(jacobian, residual + jacobian @ carried)

        def loss_at(move):
            return jnp.sum(stack(scales, evaluate(problem, rebuild(vector + move), points)) ** 2)

        smallest = jnp.finfo(vector.dtype).eps
        damping = jnp.maximum(state.inner.value * jnp.logspace(2, -2, self.probes, dtype=vector.dtype), smallest)
        moves = carried + damped_steps(spec, damping)
        now, then = jnp.sum(residual**2), jax.lax.map(loss_at, moves)
        good = (then < now) & (now - then >= self.ratio * (now - predicted(spec, damping)))
        index = self.probes - 1 - jnp.argmax(good[::-1])
        found = jnp.any(good)
        move = jnp.where(found, moves[index], 0)
        value = jnp.clip(jnp.where(found, damping[index], 10 * damping[0]), smallest, 1e3)
        watched = watch(state.inner.trend, now)
        model = rebuild(vector + move)
        counts = {g: len(z) for g, z in points.items()}
        fresh = adaptive_sample(problem, model, counts, self.adaptive, 4, key=jax.random.fold_in(state.key, state.step))
        return State(
            model=model,
            inner=Damping(value, move, fresh, state.inner.doubled, watched),
            weights=weights,
            factors=state.factors,
            key=state.key,
            step=state.step + 1,
            loss=jnp.where(found, then[index], now),
            residuals=rms(lin.residuals),
            stalled=watched.idle >= self.patience,
        )


def gauss_newton(*, width: int = 20, depth: int = 3, rows: int = 2000) -> GaussNewton:
    """Gauss-Newton for networks of up to a few thousand parameters; float64 below errors of 1e-4.

    Source: Mueller, Zeinhofer, Achieving high accuracy with PINNs via energy natural gradients, 2023; for the momentum,
    Goldshlager, Abrahamsen, Lin, A Kaczmarz-inspired approach to accelerate the optimization of neural network
    wavefunctions, 2024.
    """
    return GaussNewton(width=width, depth=depth, rows=rows)
