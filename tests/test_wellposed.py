"""The check of a problem: what it refuses, what it notes, and the numbers it names."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pdes
from sciml.domain import Ball, Box, SpaceTime
from sciml.field import derivative, dt, laplacian
from sciml.problem import Group, Problem, Role
from sciml.wellposed import check, points_per_period, require

EQUATION = Group("interior", Role.EQUATION)
SIDES = {s: Group(s, Role.BOUNDARY) for s in ("left", "right", "bottom", "top")}


class Stated(Problem):
    """A problem put together from its parts."""

    components: tuple = eqx.field(static=True)
    groups: dict = eqx.field(static=True)
    time_order: int = eqx.field(static=True)
    domain: Box | Ball | SpaceTime
    terms: object = eqx.field(static=True)

    def __init__(self, domain, groups, terms, time_order=0, components=("u",)):
        self.domain, self.terms, self.time_order, self.components = domain, terms, time_order, components
        self.groups = _Frozen(groups)

    def residuals(self, u):
        return self.terms(u)

    def reference(self):
        return None


class _Frozen(dict):
    __hash__ = object.__hash__


class WithExact(Stated):
    """The same with a closed-form solution."""

    answer: object = eqx.field(static=True)

    def __init__(self, answer, *arguments, **keywords):
        made = Stated(*arguments, **keywords)
        self.domain, self.terms, self.time_order = made.domain, made.terms, made.time_order
        self.components, self.groups, self.answer = made.components, made.groups, answer

    def exact(self, x):
        return self.answer(x)


def layer(x):
    return 0.1 * jnp.sin(5 * jnp.pi * x[0]) + jnp.exp(-99 - 100 * x[0])


def forced(source):
    ends = {s: Group(s, Role.BOUNDARY) for s in ("left", "right")}

    def terms(u):
        return {
            "interior": lambda x: -derivative(u, 0, 2)(x) - source(x),
            "left": lambda x: u(x) - layer(x),
            "right": lambda x: u(x) - layer(x),
        }

    return WithExact(layer, Box(-1, 1, ("x",)), {"interior": EQUATION, **ends}, terms)


def test_u12_forcing_of_another_solution():
    def right(x):
        return 2.5 * jnp.pi**2 * jnp.sin(5 * jnp.pi * x[0]) - 1e4 * jnp.exp(-99 - 100 * x[0])

    np.testing.assert_allclose(right(jnp.asarray([-1.0])), -1e4 * np.e, rtol=1e-12)
    np.testing.assert_allclose(layer(jnp.asarray([-1.0])), np.e, rtol=1e-12)
    assert check(forced(right)).ok
    report = check(forced(derivative(layer, 0)))
    assert not report.ok and "group 'interior'" in report.failures[0] and "another solution" in report.failures[0]
    with pytest.raises(ValueError, match="fails its check: the exact solution leaves the residual"):
        require(forced(derivative(layer, 0)))


def neumann(extra, domain=None, sign=1.0):
    domain = domain or Box([0, 0], [1, 1])

    def source(x):
        return jnp.prod(jnp.cos(jnp.pi * x)) + extra

    def terms(u):
        def flux(x):
            normal = domain.normal("boundary", x)
            return sign * sum(normal[i] * derivative(u, i)(x) for i in range(2))

        return {"interior": lambda x: -laplacian(u)(x) - source(x), "boundary": flux}

    return Stated(domain, {"interior": EQUATION, "boundary": Group("boundary", Role.BOUNDARY)}, terms)


@pytest.mark.parametrize("sign", [1.0, -1.0, 3.0])
def test_u34_incompatible_neumann_data_name_the_defect(sign):
    fine = check(neumann(0.0, sign=sign))
    assert fine.ok and abs(fine.defect) < 1e-10
    assert any("up to a constant" in note for note in fine.notes)
    report = check(neumann(1.0, sign=sign))
    np.testing.assert_allclose(report.defect, 1.0, rtol=1e-9)
    assert report.failures == (
        "no solution exists: sources and boundary fluxes do not balance, defect 1 (mean source over the domain)",
    )


def test_neumann_on_a_disc():
    report = check(neumann(2.0, Ball([0.0, 0.0], 1.0)))
    assert not report.ok
    angle, radius = np.meshgrid(np.linspace(0, 2 * np.pi, 400, endpoint=False), (np.arange(400) + 0.5) / 400)
    mean = np.mean(2 * radius * np.cos(np.pi * radius * np.cos(angle)) * np.cos(np.pi * radius * np.sin(angle)))
    np.testing.assert_allclose(report.defect, 2 + mean, atol=0.02)


def test_dirichlet_and_robin_problems_have_no_compatibility_condition():
    assert check(pdes.make("poisson")).defect is None
    robin = Stated(
        Box(0, 1, ("x",)),
        {"interior": EQUATION, "boundary": Group("boundary", Role.BOUNDARY)},
        lambda u: {
            "interior": lambda x: -derivative(u, 0, 2)(x) - 1,
            "boundary": lambda x: derivative(u, 0)(x) * (2 * x[0] - 1) + u(x),
        },
    )
    assert check(robin).ok and check(robin).defect is None


def test_u07_corners_and_their_jumps():
    problem = Stated(
        Box([0, 0], [1, 1]),
        {"interior": EQUATION, **SIDES},
        lambda u: {"interior": laplacian(u), "left": lambda x: 1 - u(x), "right": u, "bottom": u, "top": u},
    )
    report = check(problem)
    assert report.ok
    assert {(c.first, c.second, c.point, c.jump) for c in report.corners} == {
        ("left", "bottom", (0.0, 0.0), 1.0),
        ("left", "top", (0.0, 1.0), 1.0),
    }
    assert "groups left and bottom disagree by 1 at (0, 0)" in report.notes


def advection_diffusion(m):
    groups = {
        "interior": EQUATION,
        "initial": Group("initial", Role.INITIAL),
        "left": SIDES["left"],
        "right": SIDES["right"],
    }
    return Stated(
        SpaceTime(Box(0, 10, ("x",)), 0, 1),
        groups,
        lambda u: {
            "interior": lambda z: dt(u)(z) - derivative(u, 0, 2)(z) - derivative(u, 0)(z),
            "initial": u,
            "left": u,
            "right": lambda z: u(z) - m,
        },
        time_order=1,
    )


def test_deepxde_625_initial_corner():
    (corner,) = check(advection_diffusion(2.5)).corners
    assert (corner.first, corner.second, corner.point, corner.jump) == ("initial", "right", (10.0, 0.0), 2.5)
    assert check(advection_diffusion(0.0)).corners == ()


def wave(groups, time_order=2):
    terms = {
        "interior": lambda u: lambda z: dt(u, 2)(z) - derivative(u, 0, 2)(z),
        "displacement": lambda u: lambda z: u(z) - jnp.sin(jnp.pi * z[0]) / 2,
        "velocity": lambda u: lambda z: dt(u)(z) - jnp.pi * jnp.sin(3 * jnp.pi * z[0]),
        "ends": lambda u: u,
    }
    known = {
        "interior": EQUATION,
        "displacement": Group("initial", Role.INITIAL, 0),
        "velocity": Group("initial", Role.INITIAL, 1),
        "ends": Group("boundary", Role.BOUNDARY),
    }
    return Stated(
        SpaceTime(Box(0, 1, ("x",)), 0, 1),
        {g: known[g] for g in groups},
        lambda u: {g: terms[g](u) for g in groups},
        time_order,
    )


def test_u03_a_missing_initial_condition_is_named():
    assert check(wave(("interior", "displacement", "velocity", "ends"))).ok
    (failure,) = check(wave(("interior", "displacement", "ends"))).failures
    assert "velocity (order 1) is missing" in failure and "order 2 in time" in failure
    (failure,) = check(wave(("interior", "velocity", "ends"))).failures
    assert "displacement (order 0) is missing" in failure
    assert "time_order is 0 on a domain with time" in check(wave(("interior", "ends"), 0)).failures[0]


def test_an_ansatz_is_held_to_its_word():
    problem = wave(("interior", "displacement", "velocity", "ends"))

    def form(power, fixes):
        class Form(eqx.Module):
            fixes: tuple = eqx.field(static=True)

            def __call__(self, z):
                return jnp.sin(jnp.pi * z[0]) / 2 + z[1] ** power * jnp.cos(3 * z[0])

        return Form(fixes)

    assert check(problem, ansatz=form(2, ("displacement",))).ok
    (failure,) = check(problem, ansatz=form(2, ("displacement", "velocity"))).failures
    assert "claims to fix group 'velocity'" in failure
    (failure,) = check(problem, ansatz=form(1, ("lid",))).failures
    assert "unknown group 'lid'" in failure


def test_u08_periodic_advection_is_well_posed_and_a_wrong_period_is_not():
    def problem(frequency):
        groups = {"interior": EQUATION, "initial": Group("initial", Role.INITIAL)}

        def answer(z):
            return jnp.sin(frequency * jnp.pi * (z[0] - z[1]))

        def terms(u):
            return {"interior": lambda z: dt(u)(z) + derivative(u, 0)(z), "initial": lambda z: u(z) - answer(z)}

        return WithExact(answer, SpaceTime(Box(0, 1, ("x",), wrap=("x",)), 0, 1), groups, terms, time_order=1)

    np.testing.assert_allclose(problem(2).exact(jnp.asarray([0.1, 0.35])), -1)
    assert check(problem(2)).ok
    failures = check(problem(2.5)).failures
    assert any("value differs" in f and "periodic 'x'" in f for f in failures)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (lambda u: {"interior": laplacian(u)}, "group 'boundary' has no residual"),
        (lambda u: {"interior": laplacian(u), "boundary": u, "lid": u}, "residual 'lid' is not listed"),
        (
            lambda u: {"interior": lambda x: laplacian(u)(x) + jnp.log(x[0] - 0.5), "boundary": u},
            "group 'interior' is not finite at",
        ),
        (lambda u: {"interior": laplacian(u), "boundary": lambda x: x[0]}, "'boundary' does not depend on the unknown"),
    ],
)
def test_faulty_residuals_are_named(terms, message):
    problem = Stated(Box([0, 0], [1, 1]), {"interior": EQUATION, "boundary": Group("boundary", Role.BOUNDARY)}, terms)
    assert any(message in f for f in check(problem).failures)


def test_an_unknown_region_is_named_with_the_known_ones():
    problem = Stated(
        Box(0, 1, ("x",)),
        {"interior": EQUATION, "lid": Group("lid", Role.BOUNDARY)},
        lambda u: {"interior": u, "lid": u},
    )
    assert "region 'lid'; the domain has interior, boundary, left, right" in check(problem).failures[0]


def test_u05_points_a_period():
    groups = {"interior": EQUATION}
    problem = WithExact(
        lambda x: jnp.cos(jnp.sqrt(2.0) * x[0]),
        Box(-300, 300, ("x",)),
        groups,
        lambda u: {"interior": lambda x: derivative(u, 0, 2)(x) / 2 + u(x)},
    )
    np.testing.assert_allclose(points_per_period(problem, 1000)["x"], 1000 / 135.05, rtol=0.1)
    notes = check(problem, points_per_group=1000).notes
    assert any("points a period along 'x' with 1000 points" in note for note in notes)
    assert not any("a period" in note for note in check(problem, points_per_group=4000).notes)


def test_float32_problems_pass_at_their_own_precision():
    with jax.enable_x64(False):
        for name in ("poisson", "heat", "wave", "convection", "burgers"):
            report = check(pdes.make(name))
            assert report.ok, (name, report.failures)
