"""Networks as Fields: embeddings, hard constraints, output scale, what is trained."""

import itertools
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import pdes
from sciml.domain import Box
from sciml.field import derivative, laplacian
from sciml.parameters import Frozen, flatten, parameter_count, trainable
from sciml.pinn import hard_constraint, mlp, random_features, solve
from sciml.pinn.first_order import FirstOrder
from sciml.pinn.methods.features import features
from sciml.problem import Group, Problem, Role, exact_reference
from sciml.wellposed import check

KEY = jax.random.key(0)


def test_periodic_coordinates_are_periodic_with_all_derivatives():
    u = mlp(pdes.make("kdv"), width=8, depth=2, key=KEY)
    for order in range(4):
        ends = [derivative(u, 0, order)(jnp.asarray([x, 0.3])) for x in (-1.0, 1.0)]
        np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9)


def test_random_frequencies_stay_fixed_and_are_not_counted():
    problem = pdes.make("poisson")
    u = mlp(problem, width=5, depth=1, frequencies=7, bandwidth=3.0, key=KEY)
    assert parameter_count(u) == 14 * 5 + 5 + 5 + 1
    moved = eqx.apply_updates(u, jax.tree.map(jnp.ones_like, eqx.filter(u, trainable(u))))
    np.testing.assert_array_equal(moved.frequencies.value, u.frequencies.value)
    assert not np.array_equal(moved.mlp.layers[0].weight, u.mlp.layers[0].weight)


def test_output_scale_multiplies_the_values():
    problem = pdes.make("poisson")
    plain, scaled = (mlp(problem, width=5, depth=1, scale=s, key=KEY) for s in (1.0, 23.0))
    x = jnp.asarray([0.2, 0.9])
    np.testing.assert_allclose(scaled(x), 23 * plain(x), rtol=1e-12)


@pytest.mark.parametrize("bad", [{"width": 0}, {"depth": 0}, {"frequencies": -1}, {"scale": 0.0}, {"bandwidth": -1.0}])
def test_sizes_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        mlp(pdes.make("poisson"), key=KEY, **bad)


def test_random_features_are_affine_in_their_coefficients():
    u = random_features(pdes.make("heat"), 9, jnp.asarray(2.0), key=KEY)
    assert parameter_count(u) == 9 and float(u(jnp.asarray([0.1, 0.2]))) == 0.0
    assert bool(jnp.all(jnp.abs(u.weights.value) <= 2))


def test_mixed_precision_leaves_keep_their_own():
    model = {
        "a": jnp.ones(2, jnp.float32),
        "b": jnp.ones(3),
        "c": None,
        "d": jnp.tanh,
        "e": Frozen(jnp.ones(4)),
        "f": 7,
    }
    vector, rebuild = flatten(model)
    assert vector.shape == (5,) and vector.dtype == jnp.float64
    back = rebuild(vector + 1)
    assert back["a"].dtype == jnp.float32 and back["b"].dtype == jnp.float64
    assert back["c"] is None and back["d"] is jnp.tanh and back["f"] == 7
    np.testing.assert_array_equal(back["e"].value, 1)


class Corner(Problem):
    """Laplace on the unit square, u = top at x = 0 and 0 on the other sides (neurodiffeq 177 for top = 1)."""

    components = ("u",)
    groups: ClassVar = {
        "interior": Group("interior", Role.EQUATION),
        **{side: Group(side, Role.BOUNDARY) for side in ("left", "right", "bottom", "top")},
    }
    time_order = 0
    domain: Box
    value: jax.Array

    def __init__(self, value):
        self.domain, self.value = Box([0, 0], [1, 1]), jnp.asarray(float(value))

    def residuals(self, u):
        return {"interior": laplacian(u), "left": lambda x: u(x) - self.value, "right": u, "bottom": u, "top": u}

    def reference(self):
        return None


def _distance(x):
    return x[0] * (1 - x[0]) * x[1] * (1 - x[1])


def test_hard_constraint_on_torn_corners_is_refused():
    problem, sides = Corner(1.0), ("left", "right", "bottom", "top")
    report = check(problem)
    assert {(c.point, round(c.jump, 9)) for c in report.corners} == {((0.0, 0.0), 1.0), ((0.0, 1.0), 1.0)}
    network = mlp(problem, width=4, depth=1, key=KEY)
    with pytest.raises(ValueError, match=r"differ by 1 at their corner.*leave these groups as residuals"):
        hard_constraint(problem, network, lift=lambda x: 1 - x[0], distance=_distance, fixes=sides)
    form = hard_constraint(
        problem, network, lift=lambda x: 1 - x[0], distance=lambda x: x[0] * (1 - x[0]), fixes=("left", "right")
    )
    assert float(form(jnp.asarray([0.0, 0.4]))) == 1.0


def test_soft_corners_are_solved_away_from_the_jump():
    found = solve(Corner(1.0), method=features(sizes=(300,)), steps=4, key=KEY)
    assert any("disagree by 1 at (0, 0)" in note for note in found.stats["notes"])
    odd = np.arange(1, 60, 2)

    def series(x, y):
        return np.sum(
            4 / (odd * np.pi) * np.sinh(odd * np.pi * (1 - x)) / np.sinh(odd * np.pi) * np.sin(odd * np.pi * y)
        )

    for x, y, value in [
        (0.5, 0.5, 0.25),
        (0.25, 0.5, 0.5405292183),
        (0.75, 0.5, 0.0954141180),
        (0.25, 0.25, 0.4320283319),
    ]:
        np.testing.assert_allclose(series(x, y), value, atol=1e-9)
        assert abs(float(found.field(jnp.asarray([x, y]))) - value) < 0.02


def test_hard_constraint_must_hold_what_it_claims():
    problem = pdes.make("wave")
    network = mlp(problem, width=4, depth=1, key=KEY)

    def lift(z):
        return jnp.sin(jnp.pi * z[0]) + jnp.sin(4 * jnp.pi * z[0]) / 2

    with pytest.raises(ValueError, match="claims to fix group 'velocity'"):
        hard_constraint(problem, network, lift=lift, distance=lambda z: z[1], fixes=("initial", "velocity"))
    with pytest.raises(ValueError, match="unknown group 'lid'"):
        hard_constraint(problem, network, lift=lift, distance=lambda z: z[1], fixes=("lid",))
    form = hard_constraint(problem, network, lift=lift, distance=lambda z: z[1] ** 2, fixes=("initial", "velocity"))
    assert parameter_count(form) == parameter_count(network)


def test_hard_constraints_train():
    problem = pdes.make("poisson")
    form = hard_constraint(
        problem,
        mlp(problem, width=12, depth=1, key=KEY),
        lift=lambda x: 0.0 * x[0],
        distance=_distance,
        fixes=("boundary",),
    )
    found = solve(problem, network=form, points={"interior": 200}, steps=60, key=KEY)
    assert found.stats["relative_l2"] < 1e-3
    assert float(jnp.abs(found.field(jnp.asarray([0.0, 0.3])))) == 0.0


def _accumulated(learning_rate):
    return optax.MultiSteps(optax.sgd(learning_rate), every_k_schedule=2).gradient_transformation()


def test_models_with_functions_and_none_train_under_accumulation():
    """Equinox 590, 257, 458, 681: functions and None in the tree; parameters move on each second step only."""

    class Odd(eqx.Module):
        first: eqx.nn.Linear
        activation: object
        nothing: None
        last: eqx.nn.Linear

        def __call__(self, x):
            return self.last(self.activation(self.first(x)))[0]

    a, b = jax.random.split(KEY)
    model = Odd(eqx.nn.Linear(2, 4, key=a), jnp.tanh, None, eqx.nn.Linear(4, 1, key=b))
    method = FirstOrder(make=_accumulated, learning_rate=1e-3, block=1, rows=32, rebalance=0)
    states = []
    solve(
        pdes.make("poisson"),
        network=model,
        method=method,
        steps=4,
        observer=lambda p: states.append(p.state.model),
        key=KEY,
    )
    weights = [np.asarray(m.first.weight) for m in (model, *states)]
    changed = [not np.array_equal(x, y) for x, y in itertools.pairwise(weights)]
    assert changed == [False, True, False, True]
    assert states[-1].activation is jnp.tanh and states[-1].nothing is None


class Small(Problem):
    """u = a cos x, measured at the origin only by its value; reference cos x."""

    components = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "left": Group("left", Role.BOUNDARY)}
    time_order = 0
    domain: Box

    def __init__(self):
        self.domain = Box(0, 1, ("x",))

    def exact(self, x):
        return jnp.cos(x[0])

    def residuals(self, u):
        return {"interior": lambda x: u(x) - jnp.cos(x[0]), "left": lambda x: u(x) - 1}

    def reference(self):
        return exact_reference(self, (33,))


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32, jnp.float64])
def test_state_dtypes_survive_compiled_loops(dtype):
    """optax 1207, deepxde 1558: a coefficient of its own precision keeps it through a compiled loop of steps."""

    class Scaled(eqx.Module):
        a: jax.Array
        b: jax.Array

        def __call__(self, x):
            return self.a.astype(x.dtype) * (1 + self.b * x[0] ** 2)

    model = Scaled(jnp.asarray(0.5, dtype), jnp.asarray(0.0))
    found = solve(Small(), network=model, method="adam", points={"interior": 16, "left": 4}, steps=10, key=KEY)
    assert found.field.a.dtype == dtype and found.field.b.dtype == jnp.float64
    assert float(found.field.a) != 0.5
