"""What every method is: a start, a traced advance by some steps, and a host-side turn between blocks of steps."""

import abc
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from sciml.field import Field
from sciml.problem import Problem
from sciml.weighting import Weighting


class State(eqx.Module):
    """Everything a method needs to go on; a checkpoint is this pytree and nothing else.

    Attributes:
        model: the Field as it stands.
        inner: the method's own state.
        weights: the weighting's state.
        factors: group factors.
        key: never advanced; each step folds its number into it, so that blocks of any length give the same numbers.
        step: steps made.
        loss: ``sum_g factor_g mean(w |r|^2)`` at the last step.
        residuals: root mean square residual a group at the last step.
        stalled: whether the method sees no further progress.
    """

    model: Field
    inner: Any
    weights: Any
    factors: dict[str, Float[Array, ""]]
    key: PRNGKeyArray
    step: Int[Array, ""]
    loss: Float[Array, ""]
    residuals: dict[str, Float[Array, ""]]
    stalled: Array


class Solver(eqx.Module):
    """Abstract: a method of reducing the residuals of any Problem, under any Weighting."""

    block: eqx.AbstractVar[int]
    rows: eqx.AbstractVar[int]

    @abc.abstractmethod
    def network(self, problem: Problem, *, key: PRNGKeyArray) -> Field:
        """The model this method starts from when the user gives none."""

    @abc.abstractmethod
    def start(
        self, problem: Problem, model: Field, weighting: Weighting, counts: Mapping[str, int], *, key: PRNGKeyArray
    ) -> State:
        """State before the first step."""

    @abc.abstractmethod
    def advance(
        self, problem: Problem, weighting: Weighting, counts: Mapping[str, int], state: State, steps: Int[Array, ""]
    ) -> State:
        """State after ``steps`` more steps; traced once and reused for any number of them."""

    @abc.abstractmethod
    def turn(self, problem: Problem, state: State) -> State:
        """Host-side change between blocks (growing the model); most methods return the state as it is."""

    @abc.abstractmethod
    def cost(self, state: State) -> float:
        """Time of the next block relative to other blocks of this method, so that budgets foresee a growing one."""

    @abc.abstractmethod
    def describe(self, state: State) -> str:
        """A few words on where the method stands, for the progress line."""


def repeat(step: Callable[[State], State], state: State, steps: Int[Array, ""]) -> State:
    """``steps`` applications of ``step`` in one loop; the model's functions and other non-arrays stay outside it."""
    arrays, rest = eqx.partition(state, eqx.is_array)

    def body(_, carried):
        return eqx.filter(step(eqx.combine(carried, rest)), eqx.is_array)

    return eqx.combine(jax.lax.fori_loop(0, steps, body, arrays), rest)


class Trend(eqx.Module):
    """Running mean of the loss, the best of it so far, and the steps since it fell by 2 %."""

    smooth: Float[Array, ""]
    best: Float[Array, ""]
    idle: Int[Array, ""]


def trend(dtype) -> Trend:
    """Trend before any step."""
    return Trend(jnp.asarray(jnp.inf, dtype), jnp.asarray(jnp.inf, dtype), jnp.zeros((), int))


def watch(old: Trend, loss: Float[Array, ""]) -> Trend:
    """Trend with one more loss."""
    smooth = jnp.where(jnp.isfinite(old.smooth), 0.9 * old.smooth + 0.1 * loss, loss)
    better = smooth < 0.98 * old.best
    return Trend(smooth, jnp.where(better, smooth, old.best), jnp.where(better, 0, old.idle + 1))


def rested(old: Trend) -> Trend:
    """The trend with its count of idle steps begun again."""
    return Trend(old.smooth, old.best, jnp.zeros_like(old.idle))
