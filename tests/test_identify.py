"""Coefficients from a known field: right values, standard errors against statistics, and what data leave open."""

import os
import pathlib
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.io
from jaxtyping import Array, Float

from sciml.domain import Box, Domain, SpaceTime
from sciml.field import derivative, dt, laplacian
from sciml.gridfield import GridField
from sciml.pinn.identify import identify
from sciml.problem import Group, Problem, Role
from sciml.solution import RESULTS

SHARED = pathlib.Path(os.environ.get("SCIML_SHARED", pathlib.Path(__file__).parents[2] / "shared"))


def data_file(name):
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"{name} is not here; set SCIML_SHARED to the folder that has data/")
    return scipy.io.loadmat(path)


def _product(*axes):
    return jnp.asarray(np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes)))


class Evolution(Problem):
    """u_t + a u u_x + b d^order u / dx^order + c s(x, t) = 0 on a strip."""

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION)}
    time_order: ClassVar = 1
    domain: Domain
    a: Float[Array, ""]
    b: Float[Array, ""]
    c: Float[Array, ""]
    order: int = eqx.field(static=True)

    def __init__(self, a, b, c=0.0, order=3):
        self.domain = SpaceTime(Box(-1, 1, ("x",)), 0, 1)
        self.a, self.b, self.c = (jnp.asarray(v, float) for v in (a, b, c))
        self.order = order

    def source(self, z):
        x, t = z[0], z[1]
        first = -0.5 * jnp.sin(2 * x) * jnp.sin(t) ** 2
        return first + 0.0025 * jnp.cos(x) * jnp.sin(t) - jnp.sin(x) * jnp.cos(t)

    def residuals(self, u):
        def interior(z):
            convection = self.a * u(z) * derivative(u, 0)(z)
            return dt(u)(z) + convection + self.b * derivative(u, 0, self.order)(z) + self.c * self.source(z)

        return {"interior": interior}

    def reference(self):
        return None


def _abc(p):
    return (p.a, p.b, p.c)


def _ab(p):
    return (p.a, p.b)


def _sines(z):
    return jnp.sin(z[0]) * jnp.sin(z[1])


MIDPOINTS = (np.arange(200) + 0.5) / 200


# --- U10: lululxvi/deepxde issue 112 ---------------------------------------------------------------------------------


def test_u10_three_coefficients_to_rounding():
    points = {"interior": _product(MIDPOINTS, MIDPOINTS)}
    found = identify(Evolution(0.0, 0.0, 0.0), _sines, points, where=_abc)
    np.testing.assert_allclose(found.estimates, [1, 0.0025, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.singular_values, [0.665, 0.256, 0.065], atol=5e-4)
    np.testing.assert_allclose(found.condition, 10.2, atol=0.05)
    assert found.names == ("a", "b", "c") and found.notes == () and found.result == RESULTS.converged
    assert np.all(found.standard_errors < 1e-14)
    np.testing.assert_array_equal(found.estimates, [found.problem.a, found.problem.b, found.problem.c])


def test_u10_the_small_term_is_below_a_loss_of_1e_5():
    points = _product(MIDPOINTS, MIDPOINTS)

    @jax.jit
    def mean_square(problem):
        return jnp.mean(jax.vmap(problem.residuals(_sines)["interior"])(points) ** 2)

    assert mean_square(Evolution(1.0, 0.0025, 1.0)) < 1e-30
    np.testing.assert_allclose(mean_square(Evolution(1.0, 0.0, 1.0)), 1.24e-6, rtol=2e-3)


class Spring(Problem):
    """u'' + k u - f g(x) = 0 and, as data, u = amplitude sin(3 x); the noise lies in a table added to the equation."""

    components: ClassVar = ("u",)
    groups: ClassVar = {"interior": Group("interior", Role.EQUATION), "data": Group("interior", Role.DATA)}
    time_order: ClassVar = 0
    domain: Domain
    k: Float[Array, ""]
    f: Float[Array, " 2"]
    amplitude: Float[Array, ""]
    noise: Float[Array, " n"]

    def __init__(self, k, f, noise, amplitude=1.0):
        self.domain, self.k, self.f = Box(0, 1), jnp.asarray(k), jnp.asarray(f)
        self.noise, self.amplitude = jnp.asarray(noise), jnp.asarray(amplitude)

    def residuals(self, u):
        n = self.noise.shape[0]

        def interior(z):
            cell = jnp.floor(z[0] * n).astype(int)
            force = self.f[0] * z[0] + self.f[1] * jnp.cos(5 * z[0])
            return laplacian(u)(z) + self.k * u(z) - force + self.noise[cell]

        return {"interior": interior, "data": lambda z: u(z) - self.amplitude * jnp.sin(3 * z[0])}

    def reference(self):
        return None


CELLS = (np.arange(400) + 0.5) / 400
SPRING_POINTS = {"interior": jnp.asarray(CELLS[:, None])}


def _sine(z):
    return jnp.sin(3 * z[0])


def _kf(p):
    return (p.k, p.f)


def test_estimates_and_errors_are_those_of_linear_regression():
    noise = 0.3 * np.random.default_rng(0).normal(size=400)
    found = identify(Spring(1.0, [0.0, 0.0], noise), _sine, SPRING_POINTS, where=_kf)
    design = np.stack([np.sin(3 * CELLS), -CELLS, -np.cos(5 * CELLS)], axis=1)
    target = 9 * np.sin(3 * CELLS) - noise
    want, square, *_ = np.linalg.lstsq(design, target, rcond=None)
    sigma = np.sqrt(square[0] / (400 - 3))
    np.testing.assert_allclose(found.estimates, want, rtol=1e-9)
    np.testing.assert_allclose(found.sigma, sigma, rtol=1e-9)
    errors = sigma * np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose(found.standard_errors, errors, rtol=1e-8)
    assert found.names == ("k", "f[0]", "f[1]")


def test_standard_errors_are_the_spread_over_repetitions():
    rng = np.random.default_rng(1)
    runs = [identify(Spring(1.0, [0.0, 0.0], 0.3 * rng.normal(size=400)), _sine, SPRING_POINTS, where=_kf)
            for _ in range(200)]  # fmt: skip
    spread = np.std([r.estimates for r in runs], axis=0)
    np.testing.assert_allclose(np.mean([r.standard_errors for r in runs], axis=0), spread, rtol=0.2)


def test_a_coefficient_below_its_standard_error_is_named():
    noise = 0.3 * np.random.default_rng(3).normal(size=400)
    found = identify(Spring(1.0, [0.0, 0.0], noise), _sine, SPRING_POINTS, where=_kf)
    lost = [name for name, c, e in zip(found.names, found.estimates, found.standard_errors, strict=True) if e > abs(c)]
    assert lost and "k" not in lost
    assert [note.split(" = ")[0] for note in found.notes] == lost
    assert "larger than itself" in found.notes[0]


def test_the_order_is_that_of_the_selection():
    noise = 0.1 * np.random.default_rng(2).normal(size=400)
    forward = identify(Spring(1.0, [0.0, 0.0], noise), _sine, SPRING_POINTS, where=_kf)
    backward = identify(Spring(1.0, [0.0, 0.0], noise), _sine, SPRING_POINTS, where=lambda p: (p.f, p.k))
    assert backward.names == ("f[0]", "f[1]", "k")
    np.testing.assert_allclose(backward.estimates, np.roll(forward.estimates, -1), rtol=1e-8)


def test_groups_are_used_together():
    points = SPRING_POINTS | {"data": jnp.asarray(CELLS[::8, None])}
    spring = Spring(1.0, [0.0, 0.0], np.zeros(400), amplitude=0.5)
    found = identify(spring, _sine, points, where=lambda p: (p.k, p.amplitude))
    np.testing.assert_allclose(found.estimates, [9, 1], rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_the_coefficients_do_not_matter(unit):
    class Scaled(Problem):
        components: ClassVar = ("u",)
        groups: ClassVar = {"interior": Group("interior", Role.EQUATION)}
        time_order: ClassVar = 0
        domain: Domain
        k: Float[Array, ""]
        f: Float[Array, ""]

        def residuals(self, u):
            return {"interior": lambda z: laplacian(u)(z) + unit * self.k * u(z) - self.f * z[0]}

        def reference(self):
            return None

    start = Scaled(Box(0, 1), jnp.asarray(0.0), jnp.asarray(1.0))
    found = identify(start, _sine, SPRING_POINTS, where=lambda p: (p.k, p.f))
    np.testing.assert_allclose(found.estimates[0], 9 / unit, rtol=1e-10)
    np.testing.assert_allclose(found.estimates[1], 0, atol=1e-10)


class Front(Problem):
    """u = tanh((x - centre) / width), nonlinear in both."""

    components: ClassVar = ("u",)
    groups: ClassVar = {"data": Group("interior", Role.DATA)}
    time_order: ClassVar = 0
    domain: Domain
    centre: Float[Array, ""]
    width: Float[Array, ""]
    idle: Float[Array, ""]

    def residuals(self, u):
        return {"data": lambda z: u(z) - jnp.tanh((z[0] - self.centre) / self.width)}

    def reference(self):
        return None


def _front(centre, width):
    return Front(Box(0, 1), jnp.asarray(centre), jnp.asarray(width), jnp.asarray(2.0))


def test_nonlinear_coefficients_converge_to_rounding():
    points = {"data": jnp.linspace(0, 1, 101)[:, None]}
    found = identify(_front(0.5, 0.3), lambda z: jnp.tanh((z[0] - 0.37) / 0.08), points,
                     where=lambda p: (p.centre, p.width))  # fmt: skip
    np.testing.assert_allclose(found.estimates, [0.37, 0.08], rtol=1e-10)
    assert found.result == RESULTS.converged


def test_what_the_points_leave_open_is_said():
    points = {"data": jnp.linspace(0, 1, 101)[:, None]}
    found = identify(_front(0.5, 0.3), lambda z: jnp.tanh((z[0] - 0.37) / 0.08), points,
                     where=lambda p: (p.centre, p.width, p.idle))  # fmt: skip
    np.testing.assert_allclose(found.estimates, [0.37, 0.08, 2.0], rtol=1e-10)
    assert np.all(np.isfinite(found.standard_errors[:2])) and np.isinf(found.standard_errors[2])
    assert found.notes == ("idle does not enter the residuals at these points",)
    assert found.result == RESULTS.ill_posed


def test_a_combination_that_cannot_be_told_apart_is_said():
    # u = exp(x): u'' and u are the same column
    class Twin(Problem):
        components: ClassVar = ("u",)
        groups: ClassVar = {"interior": Group("interior", Role.EQUATION)}
        time_order: ClassVar = 0
        domain: Domain
        p: Float[Array, ""]
        q: Float[Array, ""]

        def residuals(self, u):
            return {"interior": lambda z: self.p * laplacian(u)(z) + 2 * self.q * u(z) - 3 * jnp.exp(z[0])}

        def reference(self):
            return None

    found = identify(
        Twin(Box(0, 1), jnp.asarray(0.0), jnp.asarray(0.0)),
        lambda z: jnp.exp(z[0]),
        SPRING_POINTS,
        where=lambda t: (t.p, t.q),
    )
    np.testing.assert_allclose(found.estimates[0] + 2 * found.estimates[1], 3, rtol=1e-10)
    assert np.all(np.isinf(found.standard_errors)) and found.unit_condition > 1e12
    assert found.result == RESULTS.ill_posed
    (note,) = found.notes
    assert "(p, q) move along (1, -0.5)" in note or "(p, q) move along (-1, 0.5)" in note


# --- U15: ehsanhaghighat/sciann-applications issue 20 -----------------------------------------------------------------


def test_u15_burgers_coefficients_from_the_shock_data():
    data = data_file("maziarraissi+PINNs/burgers_shock.mat")
    x, t = data["x"].ravel(), data["t"].ravel()
    field = GridField((x, t), data["usol"])
    # a shock of width 0.01 stands from t = 1/pi on; before it the spline resolves the data
    for times, rtol in ((t[:40], 0.02), (np.linspace(0, 0.2, 40), 1e-5)):
        found = identify(Evolution(0.0, 0.0, order=2), field, {"interior": _product(x[::2], times)}, where=_ab)
        np.testing.assert_allclose(found.estimates, [1, -0.01 / np.pi], rtol=rtol)
        assert found.notes == ()


def test_u15_positions_and_times_mixed_up_give_the_reported_nonsense():
    data = data_file("maziarraissi+PINNs/burgers_shock.mat")
    x, t, values = data["x"].ravel(), data["t"].ravel(), data["usol"]
    field = GridField((x, t), values.T.reshape(values.shape))
    found = identify(Evolution(0.0, 0.0, order=2), field, {"interior": _product(x[::2], t[:40])}, where=_ab)
    assert abs(found.estimates[0]) < 0.2 and abs(found.estimates[1]) < 1e-3


def test_u15_kdv_coefficients():
    data = data_file("maziarraissi+PINNs/KdV.mat")
    x, t = data["x"].ravel(), data["tt"].ravel()
    field = GridField((x, t), data["uu"], degree=7, periods=(2.0, None))
    points = {"interior": _product(x[::4], t[8:-8:4])}
    found = identify(Evolution(0.0, 0.0), field, points, where=_ab)
    np.testing.assert_allclose(found.estimates, [1, 0.0025], rtol=1e-8)


def test_coefficients_from_samples_of_a_soliton():
    # u = 3 c sech^2(sqrt(c) (x - c t) / (2 d)) solves u_t + u u_x + d^2 u_xxx = 0
    c, d = 0.5, 0.05
    x, t = np.linspace(-1, 1, 161), np.linspace(0, 0.5, 41)
    phase = np.sqrt(c) * (x[:, None] - c * t) / (2 * d)
    field = GridField((x, t), 3 * c / np.cosh(phase) ** 2, degree=7)
    points = {"interior": _product(x[10:-10:3], t[4:-4:3])}
    found = identify(Evolution(0.0, 0.0), field, points, where=_ab)
    np.testing.assert_allclose(found.estimates, [1, d**2], rtol=1e-4)


# --- Misuse ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "where", "text"),
    [
        ({"inside": CELLS}, _kf, "unknown residual group 'inside'; expected one of interior, data"),
        ({"interior": CELLS[:3]}, _kf, "3 residual rows for 3 coefficients"),
        ({"interior": np.append(CELLS, np.nan)}, _kf, "not finite at 1 of 401 points of group 'interior'"),
        ({"interior": CELLS}, lambda p: (p.k, p.k), "distinct array leaves of the problem; it has .*k, f"),
        ({"interior": CELLS}, lambda p: 3.0, "distinct array leaves"),
        ({"interior": CELLS}, lambda p: (), "distinct array leaves"),
    ],
)
def test_misuse_is_refused_in_a_sentence(points, where, text):
    points = {g: jnp.asarray(z)[:, None] for g, z in points.items()}
    with pytest.raises(ValueError, match=text):
        identify(Spring(1.0, [0.0, 0.0], np.zeros(400)), _sine, points, where=where)


def test_other_values_trace_nothing_again():
    traces = []

    def counted(z):
        traces.append(None)
        return _sine(z)

    def run(value):
        return identify(Spring(value, [0.0, value], np.full(400, value)), counted, SPRING_POINTS, where=_kf)

    run(0.5)
    once = len(traces)
    run(0.7)
    assert len(traces) == once
