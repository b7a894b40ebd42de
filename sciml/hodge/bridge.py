"""Linear problems solved on a mesh through their HodgeForm, with the data that their residuals hold."""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sparsax
from jaxtyping import Array, Bool, Float

import meshes
from meshes.geometry import cell_measures
from sciml.domain import SpaceTime
from sciml.hodge.complex import Complex, build, edge_lengths
from sciml.hodge.field import MeshField, SpaceTimeField, mesh_field
from sciml.hodge.solve import positive_definite
from sciml.hodge.sparse import Sparse, restricted
from sciml.problem import HodgeForm, LinearProblem, Problem, Role


class OnMesh(NamedTuple):
    """What a solve on a mesh gives: the field, the number of time steps (0 without time) and of unknowns."""

    field: MeshField | SpaceTimeField
    steps: int
    unknowns: int


def solve_on_mesh(problem: Problem, mesh: meshes.Mesh, *, steps: int | None = None) -> OnMesh:
    """Solve d^k u / dt^k + A u = f, k = 0, 1 or 2, with A = stiffness (-laplacian) + mass, by linear elements.

    Essential and initial values are those that make the problem's residuals vanish. In time the trapezoidal rule (k =
    1) or Newmark's method with parameters 1/4 and 1/2 (k = 2), both of second order and stable for any step; `steps` is
    the number of time steps, by default twice the length of the time span in units of the longest edge. Errors are of
    second order in the edge and in the step.

    Raises ValueError for a problem that is not linear or not on functions, a mesh of another dimension or size than the
    domain, and essential sides that the mesh does not name.
    Source: T. Hughes, "The finite element method" (1987).
    """
    if not isinstance(problem, LinearProblem):
        raise ValueError(f"got {type(problem).__name__}, which is no LinearProblem; expected one with hodge()")
    form = problem.hodge()
    if form.degree != 0:
        raise ValueError(f"got a problem on {form.degree}-forms; expected functions (degree 0) for a solve on a mesh")
    space = problem.domain.space if isinstance(problem.domain, SpaceTime) else problem.domain
    _check_size(mesh, len(space.names), float(space.volume("interior")))
    complex_ = build(mesh, relative=_essential(problem, form, mesh))
    cells = np.asarray(complex_.corners[0])
    unknowns = int(jnp.sum(complex_.keep[0]))
    if problem.time_order == 0:
        if not form.essential and float(form.mass) == 0:
            raise ValueError(
                "got a problem without essential sides or mass; expected a unique solution: use hodge.solve"
            )
        with positive_definite():
            values = jax.block_until_ready(_elliptic(problem, complex_, float(form.mass) >= 0))
        return OnMesh(mesh_field(mesh.points, cells, values), 0, unknowns)
    assert isinstance(problem.domain, SpaceTime)
    start, end = (float(t) for t in problem.domain.times)
    steps = math.ceil(2 * (end - start) / float(edge_lengths(complex_).max())) if steps is None else steps
    if steps < 1:
        raise ValueError(f"got steps={steps}; expected at least one time step")
    with positive_definite():
        values = jax.block_until_ready(_march(problem, complex_, steps))
    step = jnp.asarray((end - start) / steps)
    return OnMesh(SpaceTimeField(mesh_field(mesh.points, cells, values.T), jnp.asarray(start), step), steps, unknowns)


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


def _given(problem: Problem, name: str, at: Float[Array, "n d"]) -> Float[Array, " n"]:
    """The values that a group prescribes: minus its residual at zero."""
    residual = problem.residuals(lambda z: jnp.zeros((), z.dtype))[name]
    return -jax.vmap(lambda z: jnp.reshape(residual(z), ()))(at)


def _prescribed(problem: LinearProblem, complex_: Complex, at: Float[Array, "n d"]) -> Float[Array, " n"]:
    """Essential values at the vertices of the part, zero elsewhere; on two sides, those of the later one."""
    values = jnp.zeros(len(at), at.dtype)
    for name in problem.hodge().essential:
        where = ~complex_.keep[0] & jax.vmap(lambda x, n=name: _on(problem, n, x))(at)
        values = jnp.where(where, _given(problem, name, at), values)
    return values


def _on(problem: Problem, name: str, x: Float[Array, " d"]) -> Bool[Array, ""]:
    """Whether a boundary point belongs to a side: always for a problem's only side, else by the side's own normal."""
    region = problem.groups[name].region
    others = [g.region for g in problem.groups.values() if g.role is Role.BOUNDARY and g.region != region]
    if not others:
        return jnp.asarray(True)
    near = problem.domain.upper - problem.domain.lower
    inside = problem.domain.contains(x - 1e-6 * near * problem.domain.normal(region, x))
    outside = ~problem.domain.contains(x + 1e-6 * near * problem.domain.normal(region, x))
    return inside & outside


def _spatial(problem: LinearProblem, complex_: Complex) -> Sparse:
    """A as a matrix: stiffness K + mass M."""
    form = problem.hodge()
    stiff, mass = complex_.stiffness[0], complex_.mass[0]
    return eqx.tree_at(
        lambda s: (s.value, s.tail),
        stiff,
        (form.stiffness * stiff.value + form.mass * mass.value, form.stiffness * stiff.tail + form.mass * mass.tail),
    )


def _plus(one: Sparse, weight: Float[Array, ""] | float, other: Sparse) -> Sparse:
    """one + weight other, of one pattern."""
    return eqx.tree_at(
        lambda s: (s.value, s.tail), one, (one.value + weight * other.value, one.tail + weight * other.tail)
    )


def _direct(matrix: Sparse, right: Float[Array, " n"], definite: bool) -> Float[Array, " n"]:
    row, column, value = matrix.entries()
    solver = sparsax.solve if definite else sparsax.lu_solve
    return solver(row, column, value, right)


@eqx.filter_jit
def _elliptic(problem: LinearProblem, complex_: Complex, definite: bool) -> Float[Array, " n"]:
    """Nodal values of the solution without time."""
    points = complex_.points
    matrix, keep = _spatial(problem, complex_), complex_.keep[0]
    given = _prescribed(problem, complex_, points)
    right = complex_.mass[0] @ jax.vmap(problem.source)(points) - matrix @ given
    right = jnp.where(keep, right, 0.0)
    return given + _direct(restricted(matrix, keep), right, definite)


@eqx.filter_jit
def _march(problem: LinearProblem, complex_: Complex, steps: int) -> Float[Array, "_t n"]:
    """Nodal values at every time step, the initial one first."""
    assert isinstance(problem.domain, SpaceTime)
    start, end = problem.domain.times
    dt = (end - start) / steps
    mass, space, keep = complex_.mass[0], _spatial(problem, complex_), complex_.keep[0]
    at = lambda t: jnp.concatenate([complex_.points, jnp.full((len(keep), 1), t)], axis=1)  # noqa: E731
    force = lambda t: mass @ jax.vmap(problem.source)(at(t))  # noqa: E731
    sides = lambda t: _prescribed(problem, complex_, at(t))  # noqa: E731
    initial = {g.order: n for n, g in problem.groups.items() if g.role is Role.INITIAL}

    def free(matrix, right, given):
        """The solution with the given values off the free vertices."""
        return given + _direct(restricted(matrix, keep), jnp.where(keep, right - matrix @ given, 0.0), True)

    u = _given(problem, initial[0], at(start))
    times = start + dt * jnp.arange(1, steps + 1)
    if problem.time_order == 1:
        matrix = _plus(mass, dt / 2, space)

        def first(u, t):
            u = free(matrix, mass @ u - dt / 2 * (space @ u) + dt / 2 * (force(t - dt) + force(t)), sides(t))
            return u, u

        return jnp.concatenate([u[None], jax.lax.scan(first, u, times)[1]])
    matrix = _plus(mass, dt**2 / 4, space)
    v = _given(problem, initial[1], at(start))
    a = free(mass, force(start) - space @ u, jnp.zeros_like(u))

    def second(state, t):
        u, v, a = state
        guess = u + dt * v + dt**2 / 4 * a
        new = free(matrix, mass @ guess + dt**2 / 4 * force(t), sides(t))
        rate = 4 / dt**2 * (new - guess)
        return (new, v + dt / 2 * (a + rate), rate), new

    return jnp.concatenate([u[None], jax.lax.scan(second, (u, v, a), times)[1]])
