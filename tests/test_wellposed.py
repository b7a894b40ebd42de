"""The check of a problem: what it refuses, what it notes, and the numbers it names."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pdes
from sciml.domain import Ball, Box, Difference, Domain, Polygon, Sensors, SpaceTime
from sciml.field import component, derivative, div, dt, laplacian
from sciml.problem import Group, Problem, Role
from sciml.wellposed import check, points_per_period, require

EQUATION = Group("interior", Role.EQUATION)
SIDES = {s: Group(s, Role.BOUNDARY) for s in ("left", "right", "bottom", "top")}


class Stated(Problem):
    """A problem put together from its parts."""

    components: tuple = eqx.field(static=True)
    groups: dict = eqx.field(static=True)
    time_order: int = eqx.field(static=True)
    domain: Domain
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


def sharp(width, source):
    """An exact solution with a layer of the given width at the left end, and a forcing."""

    def answer(x):
        return 0.1 * jnp.sin(5 * jnp.pi * x[0]) + jnp.exp(-(x[0] + 1) / width)

    def terms(u):
        return {
            "interior": lambda x: -derivative(u, 0, 2)(x) - source(answer)(x),
            "ends": lambda x: u(x) - answer(x),
        }

    return WithExact(
        answer, Box(-1, 1, ("x",)), {"interior": EQUATION, "ends": Group("boundary", Role.BOUNDARY)}, terms
    )


def test_u12_a_forcing_wrong_in_a_thin_layer_only_or_outside_it_only():
    def right(u):
        return lambda x: -derivative(u, 0, 2)(x)

    def without_layer(u):
        return lambda x: 2.5 * jnp.pi**2 * jnp.sin(5 * jnp.pi * x[0])

    def shifted(u):
        return lambda x: right(u)(x) + 1e-3

    for width in (1e-2, 1e-3, 1e-5):
        assert check(sharp(width, right)).ok
        (failure,) = check(sharp(width, without_layer)).failures
        assert "group 'interior' at (-1)" in failure or "group 'interior' at (-0.99" in failure
    (failure,) = check(sharp(1e-3, shifted)).failures
    assert "leaves the residual 0.001 in group 'interior'" in failure


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


def sides(source, form=1.0):
    """Zero flux stated as plain derivatives, side by side, inwards on two of them; ``form`` times the equation."""
    return Stated(
        Box([0, 0], [1, 1]),
        {"interior": EQUATION, **SIDES},
        lambda u: {
            "interior": lambda x: form * (laplacian(u)(x) + source(x)),
            **{s: derivative(u, i) for i, pair in enumerate((("left", "right"), ("bottom", "top"))) for s in pair},
        },
    )


@pytest.mark.parametrize("form", [-1.0, 1.0])
def test_u34_sides_stated_one_by_one_in_either_sign(form):
    def source(x):
        return jnp.cos(jnp.pi * x[0]) * jnp.cos(jnp.pi * x[1])

    assert abs(check(sides(source, form)).defect) < 1e-12
    report = check(sides(lambda x: source(x) + 1, form))
    assert not report.ok
    np.testing.assert_allclose(report.defect, 1.0, rtol=1e-9)


def test_a_flux_that_carries_the_source_away():
    """-lap u = 4 on the unit disc: flux -2 through the rim balances it, and flux -2.5 leaves a mean of -1."""
    disc = Ball([0.0, 0.0], 1.0)

    def problem(flux):
        groups = {"interior": EQUATION, "rim": Group("boundary", Role.BOUNDARY)}
        outward = lambda u: lambda x: x[0] * derivative(u, 0)(x) + x[1] * derivative(u, 1)(x)  # noqa: E731
        return Stated(
            disc,
            groups,
            lambda u: {"interior": lambda x: -laplacian(u)(x) - 4, "rim": lambda x: outward(u)(x) - flux},
        )

    assert check(problem(-2.0)).ok
    np.testing.assert_allclose(check(problem(-2.5)).defect, -1.0, rtol=1e-9)


@pytest.mark.parametrize("waves", [5, 20, 40])
def test_an_oscillating_source_that_balances_is_not_refused(waves):
    assert check(sides(lambda x: jnp.cos(waves * jnp.pi * x[0]))).ok


def test_balance_on_other_domains():
    groups = {"interior": EQUATION, "boundary": Group("boundary", Role.BOUNDARY)}

    def problem(domain, source, groups=groups):
        def flux(u, region):
            return lambda x: (
                derivative(u, 0)(x) * domain.normal(region, x)[0] + derivative(u, 1)(x) * domain.normal(region, x)[1]
            )

        return Stated(
            domain,
            groups,
            lambda u: {
                "interior": lambda x: -laplacian(u)(x) - source(x),
                **{g: flux(u, g) for g in groups if g != "interior"},
            },
        )

    def four_lobes(x):
        return 100 * (x[0] ** 4 - 6 * x[0] ** 2 * x[1] ** 2 + x[1] ** 4)

    assert check(problem(Ball([0.0, 0.0], 1.0), four_lobes)).ok
    shape = Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])
    np.testing.assert_allclose(check(problem(shape, lambda x: x[0] * x[1])).defect, -1 / 12, rtol=1e-9)
    holed = Difference(Box([-1, -1], [1, 1]), [Ball([0.0, 0.0], 0.5)])
    rims = groups | {"holes": Group("holes", Role.BOUNDARY)}
    np.testing.assert_allclose(check(problem(holed, lambda x: x[0] + 1.0, rims)).defect, 1.0, rtol=0.02)
    torus = Box([0, 0], [1, 1], wrap=("x", "y"))
    np.testing.assert_allclose(check(problem(torus, lambda x: 3.0 + 0 * x[0], {"interior": EQUATION})).defect, 3.0)
    tube = Box([0, 0], [1, 1], wrap=("x",))
    np.testing.assert_allclose(check(problem(tube, lambda x: x[1] - 0.25)).defect, 0.25)


def test_neumann_on_a_disc():
    report = check(neumann(2.0, Ball([0.0, 0.0], 1.0)))
    assert not report.ok
    angle, radius = np.meshgrid(np.linspace(0, 2 * np.pi, 400, endpoint=False), (np.arange(400) + 0.5) / 400)
    mean = np.mean(2 * radius * np.cos(np.pi * radius * np.cos(angle)) * np.cos(np.pi * radius * np.sin(angle)))
    np.testing.assert_allclose(report.defect, 2 + mean, atol=1e-4)


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


def test_both_ends_of_an_interval_stated_as_one_group_are_named():
    groups = {
        "interior": EQUATION,
        "initial": Group("initial", Role.INITIAL),
        "ends": Group("boundary", Role.BOUNDARY),
    }
    problem = Stated(
        SpaceTime(Box(0, 2, ("x",)), 0, 1),
        groups,
        lambda u: {
            "interior": lambda z: dt(u)(z) - derivative(u, 0, 2)(z),
            "initial": lambda z: u(z) - 1 - z[0],
            "ends": u,
        },
        time_order=1,
    )
    assert [(c.point, c.jump) for c in check(problem).corners] == [((0.0, 0.0), 1.0), ((2.0, 0.0), 3.0)]


def test_corners_of_a_driven_cavity_name_the_component():
    def terms(u):
        v, w, p = (component(u, i) for i in range(3))

        def stokes(x):
            push = jnp.stack([derivative(p, 0)(x) - laplacian(v)(x), derivative(p, 1)(x) - laplacian(w)(x)])
            return jnp.append(push, div(lambda z: u(z)[:2])(x))

        walls = {s: lambda x: u(x)[:2] for s in ("left", "right", "bottom")}
        return {"interior": stokes, **walls, "top": lambda x: u(x)[:2] - jnp.asarray([1.0, 0.0])}

    report = check(Stated(Box([0, 0], [1, 1]), {"interior": EQUATION, **SIDES}, terms, components=("v", "w", "p")))
    assert report.ok
    assert {(c.first, c.second, c.point, c.jump, c.component) for c in report.corners} == {
        ("left", "top", (0.0, 1.0), 1.0, "v"),
        ("right", "top", (1.0, 1.0), 1.0, "v"),
    }
    assert "groups left and top disagree by 1 in v at (0, 1)" in report.notes


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


def test_u03_an_initial_condition_of_another_order_is_named():
    right = wave(("interior", "displacement", "velocity", "ends"))

    def twice(given, declared):
        return Stated(
            right.domain,
            right.groups,
            lambda u: {**right.terms(u), declared: right.terms(u)[given]},
            time_order=2,
        )

    (failure,) = check(twice("displacement", "velocity")).failures
    assert failure == ("group 'velocity' is declared as the initial velocity (order 1) but does not depend on it")
    (failure,) = check(twice("velocity", "displacement")).failures
    assert "'displacement' is declared as the initial displacement (order 0)" in failure


def test_measured_points_in_space_time_keep_the_time():
    heat = {"interior": EQUATION, "initial": Group("initial", Role.INITIAL), "probe": Group("probe", Role.DATA)}
    terms = {
        "interior": lambda u: lambda z: dt(u)(z) - derivative(u, 0, 2)(z),
        "initial": lambda u: u,
        "probe": lambda u: lambda z: u(z[:2]) - z[2],
    }
    domain = Sensors(SpaceTime(Box(0, 1, ("x",)), 0, 1), "probe", [[0.3, 0.2, 1.0], [0.4, 0.5, 0.3]])

    def problem(names):
        return Stated(domain, {g: heat[g] for g in names}, lambda u: {g: terms[g](u) for g in names}, time_order=1)

    assert check(problem(("interior", "initial", "probe"))).ok
    assert "displacement (order 0) is missing" in check(problem(("interior", "probe"))).failures[0]


def test_a_nonlinear_term_may_refuse_some_fields():
    """-u'' + log u = log 2 with u = 2 at the ends: not finite for the zero field, and well posed."""
    problem = WithExact(
        lambda x: 2.0 + 0 * x[0],
        Box(0, 1, ("x",)),
        {"interior": EQUATION, "ends": Group("boundary", Role.BOUNDARY)},
        lambda u: {
            "interior": lambda x: -derivative(u, 0, 2)(x) + jnp.log(u(x) / 2),
            "ends": lambda x: u(x) - 2,
        },
    )
    assert check(problem).ok


def test_values_of_the_wrong_shape_are_named():
    box, groups = Box([0, 0], [1, 1]), {"interior": EQUATION, "boundary": Group("boundary", Role.BOUNDARY)}

    def terms(u):
        return {"interior": laplacian(u), "boundary": u}

    (failure,) = check(WithExact(lambda x: jnp.zeros(1), box, groups, terms)).failures
    assert "exact solution has shape (1,)" in failure and "expected ()" in failure
    (failure,) = check(Stated(box, groups, lambda u: terms(u) | {"boundary": lambda x: jnp.eye(2) * u(x)})).failures
    assert "group 'boundary' has shape (2, 2)" in failure


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
