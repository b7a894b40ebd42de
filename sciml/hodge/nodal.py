"""Linear elements for problems on functions, with the essential and initial data that their residuals hold."""

import equinox as eqx
import jax
import jax.numpy as jnp
import sparsax
from jaxtyping import Array, Bool, Float

from sciml.domain import SpaceTime
from sciml.hodge.complex import Complex
from sciml.hodge.sparse import Sparse, restricted
from sciml.problem import LinearProblem, Problem, Role


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
def elliptic(problem: LinearProblem, complex_: Complex, definite: bool) -> Float[Array, " n"]:
    """Nodal values of the solution without time."""
    points = complex_.points
    matrix, keep = _spatial(problem, complex_), complex_.keep[0]
    given = _prescribed(problem, complex_, points)
    right = complex_.mass[0] @ jax.vmap(problem.source)(points) - matrix @ given
    right = jnp.where(keep, right, 0.0)
    return given + _direct(restricted(matrix, keep), right, definite)


@eqx.filter_jit
def march(problem: LinearProblem, complex_: Complex, steps: int) -> Float[Array, "_t n"]:
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
