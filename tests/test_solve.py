"""Contracts of every method and weighting, and what a solve promises: budgets, resuming, tracing, honest results."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import pdes
from sciml import weighting as weightings
from sciml.domain import Box, Sensors
from sciml.field import derivative
from sciml.learn import from_flax
from sciml.parameters import parameter_count
from sciml.pinn import METHODS, begin, mlp, solve
from sciml.pinn.choose import is_affine
from sciml.pinn.methods.features import features
from sciml.pinn.methods.gauss_newton import gauss_newton
from sciml.problem import Group, Problem, Role, exact_reference
from sciml.solution import RESULTS

KEY = jax.random.key(0)
POINTS = {"interior": 200, "boundary": 60}


class Counted(Problem):
    """-u'' = a^2 sin(a x) pi on [0, pi] with a Python counter of how often its residuals are asked for."""

    components = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "boundary": Group("boundary", Role.BOUNDARY)}
    time_order = 0
    domain: Box
    mode: jax.Array
    seen: list = eqx.field(static=True)

    def __init__(self, mode, seen):
        self.domain, self.mode, self.seen = Box(0, jnp.pi, ("x",)), jnp.asarray(float(mode)), seen

    def exact(self, x):
        return jnp.sin(self.mode * x[0])

    def residuals(self, u):
        self.seen.append(1)
        return {"interior": lambda x: -derivative(u, 0, 2)(x) - self.mode**2 * self.exact(x), "boundary": u}

    def reference(self):
        return exact_reference(self, (101,))


class Tally(list):
    """A list that compares by identity, so that it can be static."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def _leaves(tree):
    arrays = jax.tree.leaves(eqx.filter(tree, eqx.is_array))
    return [np.asarray(jax.random.key_data(a) if jnp.issubdtype(a.dtype, jax.dtypes.prng_key) else a) for a in arrays]


@pytest.fixture(scope="module", params=sorted(METHODS))
def method(request):
    return request.param


@pytest.fixture(scope="module")
def short(method):
    """Three steps of a method on Poisson, in one go."""
    return solve(pdes.make("poisson"), method=method, points=POINTS, steps=3, key=KEY)


def test_statistics_are_finite_and_named(method, short):
    stats = short.stats
    assert stats["method"] == method
    assert stats["steps"] == 3 and short.result == RESULTS.budget_spent
    assert stats["parameters"] == parameter_count(short.field)
    assert set(stats["residuals"]) == set(pdes.ALL["poisson"].groups)
    assert np.isfinite(stats["relative_l2"]) and np.isfinite(stats["loss"])
    assert stats["seconds"] > stats["compile_seconds"] >= 0


def test_resuming_is_bitwise(method, short):
    problem = pdes.make("poisson")
    part = solve(problem, method=method, points=POINTS, steps=2, key=KEY)
    whole = solve(problem, method=method, points=POINTS, steps=3, state=part.state, key=KEY)
    for a, b in zip(_leaves(whole.state), _leaves(short.state), strict=True):
        np.testing.assert_array_equal(a, b)


def test_second_instance_is_not_traced_again(method):
    seen = Tally()
    arguments = {"method": method, "points": POINTS, "steps": 2, "key": KEY}
    solve(Counted(1, seen), **arguments)
    plan = begin(Counted(1, seen), method=method, points=POINTS, key=KEY)
    from sciml.pinn.solve import _advance

    before = len(seen)
    one = jnp.asarray(1)
    _advance(plan.solver, Counted(3, seen), plan.weighting, plan.counts, plan.state, one)
    assert len(seen) == before


@pytest.mark.parametrize("name", sorted(weightings.ALL))
def test_every_weighting_serves_every_kind_of_step(name):
    for solver in (gauss_newton(width=6, depth=1, rows=64), features(sizes=(40,))):
        found = solve(pdes.make("poisson"), method=solver, weights=name, steps=3, key=KEY)
        assert np.isfinite(found.stats["loss"])
        assert found.stats["weights"] == name


def test_features_solve_poisson_to_rounding():
    found = solve(pdes.make("poisson"), method=features(sizes=(300, 500)), key=KEY)
    assert found.stats["relative_l2"] < 1e-8
    assert found.stats["why"] == "asked for"


def test_gauss_newton_reaches_the_target_on_a_smooth_problem():
    method = gauss_newton(width=10, depth=1, rows=400)
    found = solve(Counted(2, Tally()), method=method, steps=300, target=5e-6, key=KEY)
    assert found.result == RESULTS.converged
    assert found.stats["relative_l2"] <= 5e-6


def test_auto_explains_itself():
    linear = begin(pdes.make("heat"), key=KEY)
    assert linear.method == "features" and "affine" in linear.why
    assert begin(pdes.make("burgers"), key=KEY).method == "gauss-newton"
    network = mlp(pdes.make("heat"), width=8, depth=1, key=KEY)
    assert begin(pdes.make("heat"), network=network, key=KEY).method == "gauss-newton"
    large = mlp(pdes.make("heat"), width=80, depth=2, key=KEY)
    assert begin(pdes.make("heat"), network=large, key=KEY).method == "adam"


@pytest.mark.parametrize("name", sorted(pdes.ALL))
def test_affinity_is_seen_from_the_residuals(name):
    assert is_affine(pdes.make(name)) == (name not in ("burgers", "allen_cahn", "kdv"))


def test_a_flax_module_trains_like_any_field():
    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(1, 12, rngs=rngs, param_dtype=jnp.float64)
            self.last = nnx.Linear(12, 1, rngs=rngs, param_dtype=jnp.float64)

        def __call__(self, x):
            return self.last(jnp.tanh(self.first(x)))

    field = from_flax(Net(nnx.Rngs(0)))
    found = solve(Counted(1, Tally()), network=field, steps=40, key=KEY)
    assert found.stats["relative_l2"] < 1e-3
    assert found.stats["parameters"] == 37
    assert jnp.shape(found.field(jnp.asarray([0.3]))) == ()
    with pytest.raises(ValueError, match=r"expected a flax\.nnx\.Module"):
        from_flax(lambda x: x)


def test_target_stops_the_solve():
    found = solve(pdes.make("heat"), target=1e-2, key=KEY)
    assert found.result == RESULTS.converged
    assert found.stats["relative_l2"] <= 1e-2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "newton"}, "unknown method 'newton'.*gauss-newton"),
        ({"weights": "cauchy"}, "unknown weighting 'cauchy'.*student-t"),
        ({"points": {"lid": 10}}, "unknown residual group 'lid'.*interior, boundary"),
        ({"points": {"boundary": 0}}, "0 points for the residual group 'boundary'"),
        ({"seconds": 0}, "seconds = 0"),
        ({"steps": -1}, "steps = -1"),
        ({"target": float("nan")}, "target = nan"),
    ],
)
def test_misuse_is_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve(pdes.make("poisson"), key=KEY, **arguments)


def test_a_network_that_features_cannot_use_is_refused():
    problem = pdes.make("poisson")
    with pytest.raises(ValueError, match="use gauss-newton"):
        solve(problem, method="features", network=mlp(problem, width=4, depth=1, key=KEY), key=KEY)


def test_networks_of_the_wrong_shape_are_refused():
    problem = pdes.make("poisson")
    with pytest.raises(ValueError, match=r"values of shape \(2,\); expected \(\) for the components u"):
        solve(problem, network=lambda x: x, key=KEY)
    with pytest.raises(ValueError, match=r"does not take a point of shape \(2,\) \(x, y\)"):
        solve(problem, network=eqx.nn.Linear(3, "scalar", key=KEY), key=KEY)


def test_an_accuracy_out_of_reach_of_the_precision_is_refused():
    with jax.enable_x64(False), pytest.raises(ValueError, match="1e-09, which float32 cannot reach"):
        solve(pdes.make("poisson"), target=1e-9, key=KEY)


def test_nonfinite_steps_return_the_last_good_state():
    class Fragile(eqx.Module):
        """Overflows as soon as its parameter moves."""

        a: jax.Array

        def __call__(self, x):
            return jnp.where(self.a == 1.0, self.a * x[0], jnp.nan * self.a)

    found = solve(Counted(1, Tally()), network=Fragile(jnp.asarray(1.0)), method="adam", steps=300, key=KEY)
    assert found.result == RESULTS.nonfinite
    assert float(found.field.a) == 1.0
    assert "learning rate" in RESULTS[found.result]


def test_measured_rows_are_all_used():
    class Fit(Problem):
        """u = sin measured at given points, nothing else."""

        components = ("u",)
        groups: ClassVar = {"data": Group("sensors", Role.DATA)}
        time_order = 0
        domain: Sensors

        def __init__(self, rows):
            self.domain = Sensors(Box(0, 1, ("x",)), "sensors", rows)

        def residuals(self, u):
            return {"data": lambda z: u(z[:1]) - z[1]}

        def reference(self):
            return None

    x = np.linspace(0, 1, 37)
    problem = Fit(np.stack([x, np.sin(3 * x)], axis=1))
    assert begin(problem, key=KEY).counts == {"data": 37}
    found = solve(problem, method=features(sizes=(30,)), key=KEY)
    assert abs(float(found.field(jnp.asarray([0.41]))) - np.sin(1.23)) < 1e-6
    assert found.stats["relative_l2"] is None
    with pytest.raises(ValueError, match="without a reference"):
        solve(problem, target=1e-3, key=KEY)
