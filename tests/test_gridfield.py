"""Fields from tensor grids: polynomials exactly, rates against theory, SciPy as oracle, and data laid out wrongly."""

import os
import pathlib
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.interpolate
import scipy.io
from jaxtyping import Array, Float

from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt, laplacian
from sciml.gridfield import GridField, verify_initial
from sciml.problem import Group, Problem, Role

SHARED = pathlib.Path(os.environ.get("SCIML_SHARED", pathlib.Path(__file__).parents[2] / "shared"))


def data_file(name):
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"{name} is not here; set SCIML_SHARED to the folder that has data/")
    return scipy.io.loadmat(path)


def _at(field, points):
    return np.asarray(jax.jit(jax.vmap(field))(jnp.asarray(points)))


def _inside(n, d, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, d))


# uneven axes of different lengths: a mix-up of axes cannot go unseen
X = np.linspace(0, 1, 13) ** 1.3
T = np.linspace(0, 1, 9)


@pytest.mark.parametrize("degree", [1, 3, 5, 7])
def test_polynomials_up_to_the_degree_are_exact_with_all_derivatives(degree):
    def exact(z):
        return (z[0] - 0.3) ** degree * (1 + z[1] ** degree) - 2 * z[1]

    u = GridField((X, T), _at(exact, np.stack(np.meshgrid(X, T, indexing="ij"), -1).reshape(-1, 2)).reshape(13, 9),
                  degree=degree)  # fmt: skip
    points = jnp.asarray(_inside(40, 2))
    pairs = [(0, 0), (1, 1)] + [(0, order) for order in range(1, min(degree, 3) + 1)]

    @jax.jit
    def both(z):
        return [[jax.vmap(derivative(f, *pair))(z) for pair in pairs] for f in (u, exact)]

    for (_, order), got, want in zip(pairs, *both(points), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-12 * 40**order * max(1, np.max(np.abs(want))))


@pytest.mark.parametrize("degree", [3, 5])
def test_values_and_mixed_derivatives_agree_with_scipy(degree):
    axes = (X, T, np.array([0.0, 0.1, 0.3, 0.45, 0.7, 0.9, 1.0]))
    values = np.random.default_rng(1).normal(size=(13, 9, 7))
    u = GridField(axes, values, degree=degree)
    points = _inside(30, 3)
    coefficients, knots = values, []
    for i, axis in enumerate(axes):
        spline = scipy.interpolate.make_interp_spline(axis, coefficients, degree, axis=i)
        coefficients = np.moveaxis(spline.c, 0, i)
        knots.append(spline.t)
    oracle = scipy.interpolate.NdBSpline(tuple(knots), coefficients, degree)
    np.testing.assert_allclose(_at(u, points), oracle(points), rtol=1e-10, atol=1e-12)
    mixed = derivative(derivative(u, 0, 2), 2)
    want = oracle(points, nu=(2, 0, 1))
    np.testing.assert_allclose(_at(mixed, points), want, rtol=1e-9, atol=1e-9 * np.max(np.abs(want)))


def test_samples_are_reproduced_to_the_very_ends():
    values = np.random.default_rng(2).normal(size=(13, 9))
    points = np.stack(np.meshgrid(X, T, indexing="ij"), -1).reshape(-1, 2)
    np.testing.assert_allclose(_at(GridField((X, T), values), points), values.ravel(), atol=1e-12)


@pytest.mark.parametrize(("degree", "order"), [(3, 0), (3, 1), (3, 2), (5, 0), (5, 2), (5, 3), (7, 3)])
def test_rates_are_those_of_the_theory(degree, order):
    points = 0.3 + 0.4 * _inside(200, 1)
    errors = []
    for n in (48, 96):
        x = np.linspace(0, 1, n + 1)
        u = GridField((x,), np.sin(7 * x), degree=degree)
        want = 7.0**order * np.sin(7 * points[:, 0] + order * np.pi / 2)
        errors.append(np.max(np.abs(_at(derivative(u, 0, order), points) - want)))
    assert abs(np.log2(errors[0] / errors[1]) - (degree + 1 - order)) < 0.5


def test_periodic_axes_wrap_and_keep_their_accuracy_at_the_seam():
    x = np.linspace(-1, 1, 64, endpoint=False)
    u = GridField((x, T), np.sin(np.pi * x)[:, None] * (1 + T), degree=7, periods=(2.0, None))
    points = np.stack([np.array([-1.0, 0.99, 0.9999, 1.0, 3.3, -2.7]), np.full(6, 0.5)], axis=1)
    third = -(np.pi**3) * np.cos(np.pi * points[:, 0]) * 1.5
    np.testing.assert_allclose(_at(derivative(u, 0, 3), points), third, atol=1e-4)
    np.testing.assert_allclose(_at(u, points), np.sin(np.pi * points[:, 0]) * 1.5, atol=1e-9)


def test_nothing_is_known_outside_the_grid():
    u = GridField((X, T), np.outer(X, T))
    outside = np.array([[1.01, 0.5], [0.5, -0.01], [np.nan, 0.5]])
    assert np.all(np.isnan(_at(u, outside)))
    assert np.all(np.isnan(_at(derivative(u, 0), outside))) and np.all(np.isnan(_at(laplacian(u), outside)))
    just = np.array([[np.nextafter(1, 2), 0.5]])
    np.testing.assert_allclose(_at(u, just), 0.5, rtol=1e-12)


def test_single_precision_samples_stay_single():
    u = GridField((X.astype(np.float32), T.astype(np.float32)), np.outer(X, T).astype(np.float32))
    value = eqx.filter_jit(u)(jnp.array([0.5, 0.5], jnp.float32))
    assert value.dtype == jnp.float32
    np.testing.assert_allclose(value, 0.25, rtol=1e-5)


def test_other_samples_on_grids_of_the_same_size_trace_nothing_again():
    traces = []

    @eqx.filter_jit
    def run(u, z):
        traces.append(None)
        return u(z)

    for shift in (0.0, 1.0):
        run(GridField((X + shift, T), np.outer(X, T) + shift), jnp.array([1.0, 0.5]))
    assert len(traces) == 1


GOOD = np.zeros((13, 9))


@pytest.mark.parametrize(
    ("axes", "values", "options", "text"),
    [
        ((X, T), GOOD.T, {}, r"shape \(9, 13\) on axes of lengths \(13, 9\); the array matches transposed"),
        ((X, T), GOOD.ravel(), {}, r"shape \(117,\) on axes of lengths \(13, 9\); pass one array"),
        ((np.repeat(X, 9), np.tile(T, 13)), GOOD.ravel(), {}, "axis 0 that does not increase strictly"),
        ((X[::-1], T), GOOD, {}, "axis 0 that does not increase strictly"),
        ((X, np.where(T[3] == T, np.inf, T)), GOOD, {}, "not finite in axis 1"),
        ((X, T), np.where(GOOD == 0, np.nan, 0), {}, "117 values that are not finite"),
        ((X, T[:5]), GOOD[:, :5], {}, r"axis 1 of shape \(5,\); degree 5 expects one dimension and 6 points"),
        ((X[:, None], T), GOOD, {}, r"axis 0 of shape \(13, 1\)"),
        ((X, T), GOOD, {"degree": 4}, "degree 4; expected an odd degree"),
        ((X, T), GOOD, {"periods": (1.0, None)}, "period 1.0 for axis 0 of length 1"),
        ((X, T), GOOD, {"periods": (2.0,)}, "1 periods for 2 axes"),
    ],
)
def test_bad_grids_are_refused_in_a_sentence(axes, values, options, text):
    with pytest.raises(ValueError, match=text):
        GridField(axes, values, **options)


def test_a_point_of_the_wrong_dimension_is_refused():
    with pytest.raises(ValueError, match=r"point of shape \(3,\) for a grid of 2 axes"):
        GridField((X, T), GOOD)(jnp.zeros(3))


# --- Data against the declared initial condition --------------------------------------------------------------------


class Advection(Problem):
    """u_t + c u_x = 0 with u(x, 0) = sin(2 pi x), and the velocity as a second initial group."""

    components: ClassVar = ("u",)
    groups: ClassVar = {
        "interior": Group("interior", Role.EQUATION),
        "initial": Group("initial", Role.INITIAL),
        "velocity": Group("initial", Role.INITIAL, 1),
    }
    time_order: ClassVar = 1
    domain: Domain
    speed: Float[Array, ""]

    def __init__(self, speed=1.0):
        self.domain, self.speed = SpaceTime(Box(0, 1, ("x",)), 0, 1), jnp.asarray(speed)

    def exact(self, z):
        return jnp.sin(2 * jnp.pi * (z[0] - self.speed * z[1]))

    def residuals(self, u):
        return {
            "interior": lambda z: dt(u)(z) + self.speed * derivative(u, 0)(z),
            "initial": lambda z: u(z) - self.exact(z),
            "velocity": lambda z: dt(u)(z) - dt(self.exact)(z),
        }

    def reference(self):
        return None


def _samples(problem, n=33, m=21):
    x, t = np.linspace(0, 1, n), np.linspace(0, 1, m)
    points = np.stack(np.meshgrid(x, t, indexing="ij"), -1).reshape(-1, 2)
    return (x, t), _at(problem.exact, points).reshape(n, m)


def test_good_data_start_where_the_problem_says():
    axes, values = _samples(Advection())
    found = verify_initial(Advection(), GridField(axes, values))
    assert set(found) == {"initial", "velocity"} and all(v < 1e-3 for v in found.values())


def test_each_initial_group_is_looked_at():
    axes, values = _samples(Advection(speed=1.2))  # same start, another velocity
    with pytest.raises(ValueError, match=r"initial condition 'velocity' by 0\.199"):
        verify_initial(Advection(), GridField(axes, values))


def test_data_that_start_late_are_refused():
    (x, t), values = _samples(Advection())
    with pytest.raises(ValueError, match="not defined in the region of the initial group 'initial'"):
        verify_initial(Advection(), GridField((x, t + 0.1), values))


def test_noise_passes_with_a_tolerance_that_allows_it():
    axes, values = _samples(Advection())
    field = GridField(axes, values * (1 + 0.03 * np.cos(50 * axes[0]))[:, None])
    with pytest.raises(ValueError, match=r"'initial' by 0\.02"):
        verify_initial(Advection(), field)
    assert verify_initial(Advection(), field, tolerance=0.05)["initial"] > 0.01


class Burgers(Problem):
    """Only what the data of the shock state: u(x, 0) = -sin(pi x)."""

    components: ClassVar = ("u",)
    groups: ClassVar = {"initial": Group("initial", Role.INITIAL)}
    time_order: ClassVar = 1
    domain: Domain

    def __init__(self):
        self.domain = SpaceTime(Box(-1, 1, ("x",)), 0, 0.99)

    def residuals(self, u):
        return {"initial": lambda z: u(z) + jnp.sin(jnp.pi * z[0])}

    def reference(self):
        return None


def test_u15_positions_and_times_paired_in_the_wrong_order():
    # ehsanhaghighat/sciann-applications issue 20
    data = data_file("maziarraissi+PINNs/burgers_shock.mat")
    axes, values = (data["x"].ravel(), data["t"].ravel()), data["usol"]
    assert verify_initial(Burgers(), GridField(axes, values))["initial"] < 1e-12
    with pytest.raises(ValueError, match="matches transposed"):
        GridField(axes, values.T)
    wrong_time = values.T.reshape(values.shape)  # flattened time by time, read position by position
    with pytest.raises(ValueError, match=r"miss the initial condition 'initial' by 0\.9.*paired in the order"):
        verify_initial(Burgers(), GridField(axes, wrong_time))


def test_u15_the_same_mix_up_without_a_file():
    axes, values = _samples(Advection())
    with pytest.raises(ValueError, match="miss the initial condition 'initial'"):
        verify_initial(Advection(), GridField(axes, values.T.reshape(values.shape)))


def test_a_problem_without_initial_groups_is_refused():
    class Steady(Problem):
        components: ClassVar = ("u",)
        groups: ClassVar = {"interior": Group("interior", Role.EQUATION)}
        time_order: ClassVar = 0
        domain: Domain

        def residuals(self, u):
            return {"interior": laplacian(u)}

        def reference(self):
            return None

    with pytest.raises(ValueError, match="without INITIAL groups"):
        verify_initial(Steady(Box(0, 1)), lambda z: z[0])
