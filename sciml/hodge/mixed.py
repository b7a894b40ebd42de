"""The mixed method for the Hodge Laplacian on forms of degree 1 and more.

Source: D. Arnold, R. Falk, R. Winther, "Finite element exterior calculus, homological techniques, and applications"
(2006), section 7.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import sparsax
from jaxtyping import Array, Float, Int

from sciml.hodge.complex import Complex, geometry_of
from sciml.hodge.field import FormField, Locator, locator, proxy
from sciml.hodge.whitney import local_differential, local_mass, local_stiffness, whitney_forms
from sciml.problem import LinearProblem, Role


def mixed(problem: LinearProblem, complex_: Complex, facets: Int[np.ndarray, "b c"]) -> tuple[FormField, int]:
    """The solution of stiffness (d* d + d d*) u + mass u = f on forms, and the number of unknowns.

    With p = stiffness d* u of one degree less: (p, q) / stiffness = (u, dq) for all q, and (dp, v) + stiffness (du, dv)
    + mass (u, v) = (f, v) for all v. An indefinite system for both, of full rank without harmonic forms. The right-hand
    side takes f at the middle of each cell. `facets` are those of the boundary, where data have to be zero.
    """
    degree, dimension = problem.hodge().degree, complex_.points.shape[1]
    own, other = math.comb(dimension, degree), math.comb(dimension, degree - 1)
    if len(problem.components) not in (own, own + other):
        raise ValueError(
            f"got {len(problem.components)} components on {degree}-forms in {dimension} dimensions; expected {own}, or "
            f"{other} of the codifferential and then {own}"
        )
    _refuse_data(problem, np.asarray(complex_.points), facets)
    where = locator(np.asarray(complex_.points), np.asarray(complex_.corners[0]))
    lower, values = jax.block_until_ready(_solved(problem, complex_, where))
    both = len(problem.components) == own + other
    first = 0 if both else 1
    field = FormField(
        (lower, values)[first:],
        (complex_.corners[degree - 1], complex_.corners[degree])[first:],
        where,
        (degree - 1, degree)[first:],
        (_flux(dimension, degree - 1, degree), _flux(dimension, degree, degree))[first:],
    )
    return field, int(jnp.sum(complex_.keep[degree - 1]) + jnp.sum(complex_.keep[degree]))


def _flux(dimension: int, degree: int, unknown: int) -> bool:
    """Whether a form is read as a flux: (n - 1)-forms, but for the plane's 1-forms when they are the unknown."""
    return degree == dimension - 1 and not (dimension == 2 and unknown == 1) and degree > 0


def _refuse_data(problem: LinearProblem, points: np.ndarray, facets: np.ndarray) -> None:
    """ValueError unless every boundary residual vanishes at zero, beside its size at one."""
    middle = jnp.asarray(points[facets].mean(axis=1))
    size = len(problem.components)
    shape = () if size == 1 else (size,)
    for name, group in problem.groups.items():
        if group.role is not Role.BOUNDARY:
            continue
        zero, one = (
            jax.vmap(problem.residuals(lambda x, c=c: jnp.full(shape, c, x.dtype))[name])(middle) for c in (0.0, 1.0)
        )
        if not float(jnp.max(jnp.abs(zero))) <= 1e-10 * float(jnp.max(jnp.abs(one - zero))):
            raise ValueError(
                f"got data of size {float(jnp.max(jnp.abs(zero))):.3g} on the side {name!r} of a problem on forms; "
                "expected zero: subtract a function with these data"
            )


@eqx.filter_jit
def _solved(
    problem: LinearProblem, complex_: Complex, where: Locator
) -> tuple[Float[Array, " _m"], Float[Array, " _n"]]:
    """Cochains of stiffness d* u and of u."""
    form, n = problem.hodge(), complex_.degree
    k, lower = form.degree, complex_.count(form.degree - 1)
    geometry = geometry_of(complex_)
    mass = local_mass(geometry, k)
    below = local_mass(geometry, k - 1) / form.stiffness
    up = mass @ local_differential(n, k - 1)
    own = form.mass * mass
    if k < n:
        own = own + form.stiffness * local_stiffness(local_mass(geometry, k + 1), n, k)
    top, bottom = (jnp.concatenate(pair, axis=2) for pair in ((-below, up.transpose(0, 2, 1)), (up, own)))
    block = jnp.concatenate([top, bottom], axis=1)
    places = jnp.concatenate([complex_.corners[k - 1], lower + complex_.corners[k]], axis=1)
    keep = jnp.concatenate([complex_.keep[k - 1], complex_.keep[k]])
    width = places.shape[1]
    row, column = jnp.repeat(places, width, axis=1).ravel(), jnp.tile(places, (1, width)).ravel()
    entries = jnp.where(keep[row] & keep[column], block.ravel(), 0.0)
    diagonal = jnp.arange(len(keep), dtype=row.dtype)
    load = jnp.zeros(len(keep)).at[lower + complex_.corners[k]].add(_load(problem, complex_, geometry.volume, where))
    found = sparsax.lu_solve(
        jnp.concatenate([row, diagonal]),
        jnp.concatenate([column, diagonal]),
        jnp.concatenate([entries, jnp.where(keep, 0.0, 1.0)]),
        jnp.where(keep, load, 0.0),
    )
    return found[:lower], found[lower:]


def _load(problem: LinearProblem, complex_: Complex, volume: Float[Array, " m"], where: Locator) -> Float[Array, "m f"]:
    """Integrals over each cell of the source times the Whitney forms, by the value at the middle."""
    degree, dimension = problem.hodge().degree, complex_.points.shape[1]
    share = jnp.full(dimension + 1, 1 / (dimension + 1))
    flux = _flux(dimension, degree, degree)

    def one(cell, size):
        middle = jnp.mean(complex_.points[where.cells[cell]], axis=0)
        forms = whitney_forms(share, where.gradients(cell), degree)
        return size * jax.vmap(lambda w: proxy(w, flux))(forms) @ jnp.atleast_1d(problem.source(middle))

    return jax.vmap(one)(jnp.arange(len(volume)), volume)
