"""Problems solved on meshes: second order towards the same exact solution that the network path uses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import meshes
import pdes
import sciml
from sciml.hodge.field import mesh_field

CASES = {
    "poisson": ({}, lambda n: (meshes.square(n), None)),
    "helmholtz": ({"kappa": 6.0, "mode_x": 1.0, "mode_y": 2.0}, lambda n: (meshes.square(n), None)),
    "heat": ({}, lambda n: (meshes.interval(n), n)),
    "wave": ({}, lambda n: (meshes.interval(8 * n), 16 * n)),
}


@pytest.mark.parametrize("name", CASES)
def test_second_order_towards_exact(name):
    parameters, made = CASES[name]
    problem = pdes.make(name, **parameters)
    errors = []
    for n in (16, 32):
        mesh, steps = made(n)
        solution = sciml.solve(problem, mesh=mesh, steps=steps)
        assert solution.result == sciml.RESULTS.converged
        errors.append(solution.stats["relative_l2"])
    assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.15
    point = jnp.full(len(problem.domain.names), 0.3)
    assert float(solution.field(point)) == pytest.approx(float(problem.exact(point)), abs=3 * errors[1])


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
    field = mesh_field(mesh.points, mesh.cells.astype(np.int32), jnp.asarray(mesh.points @ slope))
    inside = mesh.points[mesh.cells].mean(axis=1)
    for points in (inside, mesh.points):
        assert jax.vmap(field)(jnp.asarray(points)) == pytest.approx(points @ slope, abs=1e-12)
    values = rng.normal(size=len(mesh.points))
    at = jax.vmap(mesh_field(mesh.points, mesh.cells.astype(np.int32), jnp.asarray(values)))(jnp.asarray(mesh.points))
    assert at == pytest.approx(values, abs=1e-12)
