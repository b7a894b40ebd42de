"""Problems solved on meshes: the orders of theory, towards the same exact solution that the network path uses."""

import math
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import meshes
import pdes
import sciml
from sciml import hodge
from sciml.hodge.bridge import solve_on_mesh
from sciml.hodge.field import FormField, MeshField, locator

CASES = {
    "poisson": (2, {}, (16, 32), lambda n: (meshes.square(n), None)),
    "helmholtz": (2, {"kappa": 6.0, "mode_x": 1.0, "mode_y": 2.0}, (16, 32), lambda n: (meshes.square(n), None)),
    "heat": (2, {}, (16, 32), lambda n: (meshes.interval(n), n)),
    "wave": (2, {}, (16, 32), lambda n: (meshes.interval(8 * n), 16 * n)),
    "darcy": (1, {"permeability": 3.0}, (8, 16), lambda n: (meshes.square(n), None)),
    "magnetostatics": (1, {}, (4, 8), lambda n: (meshes.cube(n), None)),
}


@pytest.mark.parametrize("name", CASES)
def test_order_towards_exact(name):
    order, parameters, sizes, made = CASES[name]
    problem = pdes.make(name, **parameters)
    errors = []
    for n in sizes:
        mesh, steps = made(n)
        solution = sciml.solve(problem, mesh=mesh, steps=steps)
        assert solution.result == sciml.RESULTS.converged
        errors.append(solution.stats["relative_l2"])
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.15
    point = jnp.full(len(problem.domain.names), 0.3)
    exact = problem.exact(point)
    assert np.allclose(solution.field(point), exact, rtol=0, atol=3 * errors[1] * float(jnp.max(jnp.abs(exact))))


class Ramp(sciml.LinearProblem):
    """u_t - u_xx = f, u = 1 + 2 x + (1 + t) x^2 at both ends and at the start: data that are not zero."""

    components: ClassVar = ("u",)
    groups: ClassVar = {
        "interior": sciml.Group("interior", sciml.Role.EQUATION),
        "initial": sciml.Group("initial", sciml.Role.INITIAL),
        "left": sciml.Group("left", sciml.Role.BOUNDARY),
        "right": sciml.Group("right", sciml.Role.BOUNDARY),
    }
    time_order: ClassVar = 1
    domain: sciml.Domain

    def exact(self, z):
        return 1 + 2 * z[0] + (1 + z[1]) * z[0] ** 2

    def source(self, z):
        return z[0] ** 2 - 2 * (1 + z[1])

    def residuals(self, u):
        given = {name: lambda z: u(z) - self.exact(z) for name in ("initial", "left", "right")}
        return {"interior": lambda z: sciml.dt(u)(z) - sciml.derivative(u, 0, 2)(z) - self.source(z), **given}

    def hodge(self):
        return sciml.HodgeForm(0, jnp.ones(()), jnp.zeros(()), ("left", "right"))

    def reference(self):
        return sciml.exact_reference(self, (33, 17))


class Still(sciml.LinearProblem):
    """-u'' + u = f, u = 1 + 2 x + x^2 at both ends."""

    components: ClassVar = ("u",)
    groups: ClassVar = {name: group for name, group in Ramp.groups.items() if name != "initial"}
    time_order: ClassVar = 0
    domain: sciml.Domain

    def exact(self, z):
        return 1 + 2 * z[0] + z[0] ** 2

    def source(self, z):
        return self.exact(z) - 2

    def residuals(self, u):
        given = {name: lambda z: u(z) - self.exact(z) for name in ("left", "right")}
        return {"interior": lambda z: -sciml.derivative(u, 0, 2)(z) + u(z) - self.source(z), **given}

    def hodge(self):
        return sciml.HodgeForm(0, jnp.ones(()), jnp.ones(()), ("left", "right"))

    def reference(self):
        return sciml.exact_reference(self, (65,))


@pytest.mark.parametrize("kind", [Ramp, Still])
def test_essential_and_initial_values_that_are_not_zero(kind):
    box = sciml.Box(0, 1, ("x",))
    problem = kind(sciml.SpaceTime(box, 0, 1) if kind is Ramp else box)
    errors = []
    for n in (8, 16):
        solution = sciml.solve(problem, mesh=meshes.interval(n), steps=n if kind is Ramp else None)
        errors.append(solution.stats["relative_l2"])
        for end in (0.0, 1.0):
            at = jnp.array([end, 0.5] if kind is Ramp else [end])
            assert float(solution.field(at)) == pytest.approx(float(problem.exact(at)), abs=1e-10)
    assert errors[1] < 5e-3 and abs(np.log2(errors[0] / errors[1]) - 2) < 0.15


def test_scattered_and_jittered_meshes_too():
    problem = pdes.make("poisson")
    for layout in (meshes.Jittered(0.2, seed=1), meshes.Delaunay(seed=1)):
        assert sciml.solve(problem, mesh=meshes.square(24, layout=layout)).stats["relative_l2"] < 0.02
    assert sciml.solve(problem, mesh=meshes.square(8), target=1e-6).result == sciml.RESULTS.stalled


def test_what_does_not_fit_is_one_sentence():
    for call, said in (
        (lambda: sciml.solve(pdes.make("burgers"), mesh=meshes.interval(8)), "no LinearProblem"),
        (lambda: sciml.solve(pdes.make("poisson"), mesh=meshes.cube(2)), "expected 2 of both"),
        (lambda: sciml.solve(pdes.make("poisson"), mesh=meshes.disk(4)), "expected a mesh of that domain|domain of 1"),
        (lambda: sciml.solve(pdes.make("poisson"), mesh=meshes.square(4), seconds=3), "together with a mesh"),
        (lambda: sciml.solve(pdes.make("poisson")), "got no key"),
    ):
        with pytest.raises(ValueError, match=said):
            call()


@pytest.mark.parametrize("mesh", [meshes.annulus(4), meshes.ball(2), meshes.interval(7), meshes.lshape(3)], ids=str)
def test_field_reproduces_linear_functions_and_vertices(mesh):
    rng = np.random.default_rng(0)
    slope = rng.normal(size=mesh.points.shape[1])
    where = locator(mesh.points, mesh.cells.astype(np.int32))
    field = MeshField(jnp.asarray(mesh.points @ slope), where)
    inside = mesh.points[mesh.cells].mean(axis=1)
    for points in (inside, mesh.points):
        assert jax.vmap(field)(jnp.asarray(points)) == pytest.approx(points @ slope, abs=1e-12)
    values = rng.normal(size=len(mesh.points))
    at = jax.vmap(MeshField(jnp.asarray(values), where))(jnp.asarray(mesh.points))
    assert at == pytest.approx(values, abs=1e-12)


class Induction(sciml.LinearProblem):
    """H = curl B, curl H - grad div B = J with n . B = 0 and n x H = 0: 2-forms and their codifferential, in space."""

    components: ClassVar = ("hx", "hy", "hz", "bx", "by", "bz")
    groups: ClassVar = pdes.ALL["magnetostatics"].groups
    time_order: ClassVar = 0
    domain: sciml.Domain
    shift: float = 0.0

    def exact(self, x):
        b = sciml.curl(pdes.make("magnetostatics").exact)
        return jnp.concatenate([sciml.curl(b)(x), b(x)])

    def source(self, x):
        return 2 * jnp.pi**2 * self.exact(x)[3:]

    def residuals(self, u):
        normal = lambda x: self.domain.normal("boundary", x)  # noqa: E731
        h, b = (lambda x: u(x)[:3]), (lambda x: u(x)[3:])
        return {
            "interior": lambda x: jnp.concatenate(
                [h(x) - sciml.curl(b)(x), sciml.curl(h)(x) - sciml.grad(sciml.div(b))(x) - self.source(x)]
            ),
            "boundary": lambda x: jnp.append(jnp.cross(normal(x), h(x)), normal(x) @ b(x) - self.shift),
        }

    def hodge(self):
        return sciml.HodgeForm(2, jnp.ones(()), jnp.zeros(()), ("boundary",))

    def reference(self):
        return sciml.exact_reference(self, (17, 17, 17))


def test_two_forms_and_their_codifferential():
    problem = Induction(sciml.Box([0, 0, 0], [1, 1, 1]))
    errors = [sciml.solve(problem, mesh=meshes.cube(n)).stats["relative_l2"] for n in (4, 8)]
    assert errors[1] < 0.3 and abs(np.log2(errors[0] / errors[1]) - 1) < 0.15


class Kernel(Induction):
    """Natural conditions on an annulus, where one 1-form is harmonic: no solution is the only one."""

    components: ClassVar = ("ux", "uy")

    def source(self, x):
        return x

    def hodge(self):
        return sciml.HodgeForm(1, jnp.ones(()), jnp.zeros(()), ())

    def reference(self):
        return None


class Moving(Kernel):
    """1-forms in time."""

    time_order: ClassVar = 1


class Short(Kernel):
    """A 1-form of one component."""

    components: ClassVar = ("u",)


@pytest.mark.parametrize(
    ("problem", "mesh", "said"),
    [
        (Induction(sciml.Box([0, 0, 0], [1, 1, 1]), 1.0), meshes.cube(2), "got data of size 1 on the side 'boundary'"),
        (Kernel(sciml.Box([0, 0], [4.0, 2.3])), meshes.annulus(6), "1 harmonic 1-forms"),
        (Moving(sciml.Box([0, 0], [1, 1])), meshes.square(2), "in time on 1-forms"),
        (Short(sciml.Box([0, 0], [1, 1])), meshes.square(2), "got 1 components on 1-forms in 2 dimensions; expected 2"),
    ],
    ids=["data", "kernel", "time", "components"],
)
def test_forms_that_do_not_fit_are_one_sentence(problem, mesh, said):
    with pytest.raises(ValueError, match=said):
        solve_on_mesh(problem, mesh)


@pytest.mark.parametrize("mesh", [meshes.lshape(2), meshes.ball(2)], ids=str)
def test_whitney_forms_reproduce_constant_vectors(mesh):
    """Circulations along edges and fluxes through facets of a constant vector give it back everywhere."""
    complex_ = hodge.build(mesh)
    dimension = mesh.points.shape[1]
    vector = np.random.default_rng(1).normal(size=dimension)
    ends = mesh.points[np.asarray(complex_.simplices[1])]
    circulation = (ends[:, 1] - ends[:, 0]) @ vector
    corner = mesh.points[np.asarray(complex_.simplices[dimension - 1])]
    sides = np.concatenate([np.tile(vector, (len(corner), 1, 1)), corner[:, 1:] - corner[:, :1]], axis=1)
    flux = np.linalg.det(sides) / math.factorial(dimension - 1)
    where = locator(np.asarray(complex_.points), np.asarray(complex_.corners[0]))
    for values, degree, as_flux in ((circulation, 1, False), (flux, dimension - 1, True)):
        field = FormField((jnp.asarray(values),), (complex_.corners[degree],), where, (degree,), (as_flux,))
        at = jax.jit(jax.vmap(field))(jnp.asarray(mesh.points[mesh.cells].mean(axis=1) + 1e-3))
        assert np.allclose(at, vector, rtol=0, atol=1e-12)
