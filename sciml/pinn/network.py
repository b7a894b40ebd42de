"""Networks as Fields: inputs scaled from the domain's box to [-1, 1], periodic coordinates embedded as cosine and sine.

Every constructor takes the Problem, so that coordinates, periodicity and the number of components come from one place.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from sciml.domain import Domain
from sciml.field import Field
from sciml.parameters import Frozen
from sciml.problem import Problem
from sciml.wellposed import check


class Embedding(eqx.Module):
    """Point of the box -> network inputs: ``2 (x - lower) / (upper - lower) - 1``, or cosine and sine of the angle."""

    lower: Frozen
    upper: Frozen
    periodic: tuple[bool, ...] = eqx.field(static=True)

    def __init__(self, domain: Domain):
        self.lower, self.upper, self.periodic = Frozen(domain.lower), Frozen(domain.upper), domain.periodic

    @property
    def size(self) -> int:
        return len(self.periodic) + sum(self.periodic)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        unit = (x - self.lower.value) / (self.upper.value - self.lower.value)
        inputs = []
        for i, wraps in enumerate(self.periodic):
            angle = 2 * jnp.pi * unit[i]
            inputs += [jnp.cos(angle), jnp.sin(angle)] if wraps else [2 * unit[i] - 1]
        return jnp.stack(inputs)


def _as_value(outputs: Float[Array, " m"]) -> Float[Array, "..."]:
    return outputs[0] if outputs.shape == (1,) else outputs


class Network(eqx.Module):
    """``u(x) = scale * mlp(frequencies(embedding(x)))``; a scalar Field when there is one output."""

    embedding: Embedding
    frequencies: Frozen | None
    mlp: eqx.nn.MLP
    scale: Frozen

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, "..."]:
        z = self.embedding(x)
        if self.frequencies is not None:
            angle = self.frequencies.value @ z
            z = jnp.concatenate([jnp.cos(angle), jnp.sin(angle)])
        return _as_value(self.scale.value * self.mlp(z))


def _glorot(mlp: eqx.nn.MLP, key: PRNGKeyArray) -> eqx.nn.MLP:
    """Glorot-normal weights and zero biases, in every linear layer."""

    def renewed(layer, k):
        deviation = jnp.sqrt(2.0 / (layer.in_features + layer.out_features)).astype(layer.weight.dtype)
        weight = deviation * jax.random.normal(k, layer.weight.shape, layer.weight.dtype)
        return eqx.tree_at(lambda la: (la.weight, la.bias), layer, (weight, jnp.zeros_like(layer.bias)))

    keys = jax.random.split(key, len(mlp.layers))
    return eqx.tree_at(lambda m: m.layers, mlp, tuple(map(renewed, mlp.layers, keys)))


def mlp(
    problem: Problem,
    *,
    width: int = 20,
    depth: int = 3,
    activation: Callable = jnp.tanh,
    frequencies: int = 0,
    bandwidth: float = 1.0,
    scale: float = 1.0,
    key: PRNGKeyArray,
) -> Network:
    """Fully connected network for the unknown of ``problem``.

    Args:
        width, depth: units a hidden layer and number of hidden layers.
        activation: any smooth scalar function.
        frequencies: number of random Fourier features (cosine and sine each) put before the first layer; 0 for none.
        bandwidth: standard deviation of those frequencies, in radians per half-width of the box.
        scale: the size of the unknown; outputs are multiplied by it, so that the network works at order one.

    Raises:
        ValueError: sizes below one, a scale or bandwidth that is not positive.

    Source: Tancik et al., Fourier features let networks learn high frequency functions in low dimensional domains,
    2020.
    """
    if width < 1 or depth < 1 or frequencies < 0:
        raise ValueError(f"got width {width}, depth {depth}, frequencies {frequencies}; expected at least 1, 1 and 0")
    if not (scale > 0 and bandwidth > 0):
        raise ValueError(f"got scale {scale} and bandwidth {bandwidth}; expected positive numbers")
    embedding = Embedding(problem.domain)
    first, second, third = jax.random.split(key, 3)
    dtype = embedding.lower.value.dtype
    lift = Frozen(bandwidth * jax.random.normal(third, (frequencies, embedding.size), dtype)) if frequencies else None
    inner = eqx.nn.MLP(
        2 * frequencies or embedding.size, len(problem.components), width, depth, activation, dtype=dtype, key=first
    )
    return Network(embedding, lift, _glorot(inner, second), Frozen(jnp.asarray(scale, dtype)))


class RandomFeatures(eqx.Module):
    """``u(x) = coefficients @ tanh(weights @ embedding(x) + biases)`` with hidden layer fixed at random."""

    embedding: Embedding
    weights: Frozen
    biases: Frozen
    coefficients: Float[Array, "m p"]

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, "..."]:
        hidden = jnp.tanh(self.weights.value @ self.embedding(x) + self.biases.value)
        return _as_value(self.coefficients @ hidden)


def random_features(problem: Problem, size: int, spread: Float[Array, ""], *, key: PRNGKeyArray) -> RandomFeatures:
    """Features with weights and biases uniform in ``[-spread, spread]`` and zero coefficients."""
    embedding = Embedding(problem.domain)
    dtype = embedding.lower.value.dtype
    inner, outer = jax.random.split(key)
    weights = spread * jax.random.uniform(inner, (size, embedding.size), dtype, -1, 1)
    biases = spread * jax.random.uniform(outer, (size,), dtype, -1, 1)
    return RandomFeatures(embedding, Frozen(weights), Frozen(biases), jnp.zeros((len(problem.components), size), dtype))


class HardConstraint(eqx.Module):
    """``u(x) = lift(x) + distance(x) * network(x)``; satisfies the groups in ``fixes`` whatever the network."""

    network: Field
    lift: Field
    distance: Field
    fixes: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, "..."]:
        return self.lift(x) + self.distance(x) * self.network(x)


def hard_constraint(
    problem: Problem, network: Field, *, lift: Field, distance: Field, fixes: tuple[str, ...]
) -> HardConstraint:
    """Build in the groups ``fixes`` exactly: ``lift`` carries their data, ``distance`` vanishes where they hold.

    Raises:
        ValueError: an unknown group; a group that the form does not satisfy; boundary data that disagree at a corner
            (no continuous form exists there: keep those groups as residuals instead).
    """
    form = HardConstraint(network, lift, distance, tuple(fixes))
    torn = [c for c in check(problem).corners if c.first in fixes and c.second in fixes]
    if torn:
        raise ValueError(
            f"got data of groups {torn[0].first} and {torn[0].second} that differ by {torn[0].jump:.3g} at their "
            "corner; "
            "a hard constraint needs continuous data: leave these groups as residuals"
        )
    failures = check(problem, ansatz=form).failures
    if failures:
        raise ValueError("; ".join(failures))
    return form
