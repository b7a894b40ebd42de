"""Linear problems solved on a mesh through their HodgeForm, with the data that their residuals hold."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import meshes
from meshes.geometry import cell_measures
from sciml.domain import SpaceTime
from sciml.hodge.complex import Complex, build, edge_lengths
from sciml.hodge.field import FormField, MeshField, SpaceTimeField, locator
from sciml.hodge.mixed import mixed
from sciml.hodge.nodal import elliptic, march
from sciml.hodge.solve import positive_definite
from sciml.problem import HodgeForm, LinearProblem, Problem, Role


class OnMesh(NamedTuple):
    """What a solve on a mesh gives: the field, the number of time steps (0 without time) and of unknowns."""

    field: MeshField | SpaceTimeField | FormField
    steps: int
    unknowns: int


def solve_on_mesh(problem: Problem, mesh: meshes.Mesh, *, steps: int | None = None) -> OnMesh:
    """Solve d^k u / dt^k + A u = f, k = 0, 1 or 2, with A = stiffness (d* d + d d*) + mass, by Whitney forms.

    On functions these are linear elements, errors of second order in the edge and in the step. In time the trapezoidal
    rule (k = 1) or Newmark's method with parameters 1/4 and 1/2 (k = 2), both stable for any step; `steps` is the
    number of time steps, by default twice the length of the time span in units of the longest edge. Essential and
    initial values are those that make the problem's residuals vanish.

    On forms of degree 1 and more, without time: the mixed method for u and stiffness d* u, of first order. A problem
    with more components than the form has the proxy of stiffness d* u first (Darcy's flux before the pressure).

    Raises ValueError for a problem that is not linear, a mesh of another dimension or size than the domain, essential
    sides that the mesh does not name, forms in time or with boundary data, and problems without a unique solution.
    Source: T. Hughes, "The finite element method" (1987); for forms see `sciml.hodge.mixed`.
    """
    if not isinstance(problem, LinearProblem):
        raise ValueError(f"got {type(problem).__name__}, which is no LinearProblem; expected one with hodge()")
    form = problem.hodge()
    space = problem.domain.space if isinstance(problem.domain, SpaceTime) else problem.domain
    _check_size(mesh, len(space.names), float(space.volume("interior")))
    essential = _essential(problem, form, mesh)
    complex_ = build(mesh, relative=essential)
    if form.degree == 0:
        return _on_functions(problem, form, complex_, steps)
    if problem.time_order:
        raise ValueError(f"got a problem in time on {form.degree}-forms; expected functions, or forms without time")
    betti = meshes.betti(mesh, essential)[form.degree]
    if betti and float(form.mass) == 0:
        raise ValueError(
            f"got a problem without mass on a mesh with {betti} harmonic {form.degree}-forms; expected a unique "
            "solution: use hodge.solve, which leaves them out"
        )
    field, unknowns = mixed(problem, complex_, meshes.boundary(mesh))
    return OnMesh(field, 0, unknowns)


def _on_functions(problem: LinearProblem, form: HodgeForm, complex_: Complex, steps: int | None) -> OnMesh:
    unknowns = int(jnp.sum(complex_.keep[0]))
    where = locator(np.asarray(complex_.points), np.asarray(complex_.corners[0]))
    if problem.time_order == 0:
        if not form.essential and float(form.mass) == 0:
            raise ValueError(
                "got a problem without essential sides or mass; expected a unique solution: use hodge.solve"
            )
        with positive_definite():
            values = jax.block_until_ready(elliptic(problem, complex_, float(form.mass) >= 0))
        return OnMesh(MeshField(values, where), 0, unknowns)
    assert isinstance(problem.domain, SpaceTime)
    start, end = (float(t) for t in problem.domain.times)
    steps = math.ceil(2 * (end - start) / float(edge_lengths(complex_).max())) if steps is None else steps
    if steps < 1:
        raise ValueError(f"got steps={steps}; expected at least one time step")
    with positive_definite():
        values = jax.block_until_ready(march(problem, complex_, steps))
    step = jnp.asarray((end - start) / steps)
    return OnMesh(SpaceTimeField(MeshField(values.T, where), jnp.asarray(start), step), steps, unknowns)


def _check_size(mesh: meshes.Mesh, dimension: int, volume: float) -> None:
    """ValueError unless the mesh fills the domain, but for what straight edges leave out."""
    if mesh.points.shape[1] != dimension or mesh.degree != dimension:
        raise ValueError(
            f"got a mesh of degree {mesh.degree} in {mesh.points.shape[1]} dimensions; expected {dimension} of both"
        )
    size = float(np.abs(cell_measures(mesh)).sum())
    if not abs(size / volume - 1) < 0.1:
        raise ValueError(
            f"got a mesh of size {size:.4g} for a domain of {volume:.4g}; expected a mesh of the problem's domain"
        )


def _essential(problem: Problem, form: HodgeForm, mesh: meshes.Mesh) -> np.ndarray | None:
    """Facets where values are prescribed: groups of the mesh, or its whole boundary if all of it is essential."""
    if not form.essential:
        return None
    sides = [name for name, group in problem.groups.items() if group.role is Role.BOUNDARY]
    rows = []
    for name in form.essential:
        region = problem.groups[name].region
        if region in mesh.groups:
            rows.append(mesh.groups[region])
        elif set(sides) == set(form.essential):
            return meshes.boundary(mesh)
        else:
            known = ", ".join(mesh.groups) or "none"
            raise ValueError(f"got a mesh without the side {region!r}; expected it among its groups ({known})")
    return np.concatenate(rows)
