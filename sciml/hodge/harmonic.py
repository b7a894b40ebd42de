"""Harmonic cochains: closed and co-closed, as many as the Betti number says, never by thresholding eigenvalues."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from meshes.topology import betti_of, top_cycles
from sciml.hodge.complex import Complex, check_degree, geometry_of, numpy_part, numpy_tables
from sciml.hodge.operators import d, d_transpose, masked
from sciml.hodge.solve import Cohomology, cohomology, positive_definite, potential


def harmonic_basis(complex_: Complex, degree: int, *, found: Cohomology | None = None) -> Float[Array, "_n _b"]:
    """A basis of the harmonic p-cochains, one a column.

    Functions: one on each component without essential values. 1-forms: for each generator of the first cohomology the
    harmonic cochain with period one round its own loop and zero round the others'. Forms of the highest degree: the
    measure along each cycle of cells. 2-forms of tetrahedra: closed cochains less their exact parts, as many as the
    Betti number, orthonormal. All are closed and co-closed to rounding; the number is exact.
    """
    check_degree(complex_, degree)
    found = cohomology(complex_) if found is None else found
    if degree == 0:
        free = jax.ops.segment_sum(complex_.pins.astype(float), complex_.component, complex_.components)
        number = jnp.asarray(np.flatnonzero(np.asarray(free)))
        return (complex_.component[:, None] == number).astype(complex_.points.dtype)
    if degree == complex_.degree:
        cycles = top_cycles(numpy_tables(complex_), numpy_part(complex_))
        return geometry_of(complex_).volume[:, None] * jnp.asarray(cycles.T, complex_.points.dtype)
    if degree == 1:
        with positive_definite():
            return jax.block_until_ready(coclosed(complex_, found, found.cocycles.T.astype(complex_.points.dtype), 1))
    with positive_definite():
        return jax.block_until_ready(_second(complex_, found))


def _second(complex_: Complex, found: Cohomology) -> Float[Array, "_n _b"]:
    """Harmonic 2-forms of tetrahedra from closed cochains in general position."""
    count = betti_of(numpy_tables(complex_), numpy_part(complex_))[2]
    seeds = np.random.default_rng(0).normal(size=(complex_.count(2), count))
    forms = _closed_and_coclosed(complex_, found, masked(complex_, jnp.asarray(seeds), 2))
    for _ in range(2):
        gram = forms.T @ (complex_.mass[2] @ forms)
        forms = jnp.linalg.solve(jnp.linalg.cholesky(gram), forms.T).T if count else forms
    return forms


@eqx.filter_jit
def _closed_and_coclosed(complex_: Complex, found: Cohomology, seeds: Float[Array, "n b"]) -> Float[Array, "n b"]:
    functional = d_transpose(complex_, complex_.mass[3] @ d(complex_, seeds, 2), 2)
    return coclosed(complex_, found, seeds - potential(complex_, found, functional, 2), 2)


@eqx.filter_jit
def coclosed(complex_: Complex, found: Cohomology, closed: Float[Array, "n b"], degree: int) -> Float[Array, "n b"]:
    """Closed cochains less their exact parts: the harmonic ones of the same classes."""
    for _ in range(2):  # the second removes the rounding of the first
        functional = d_transpose(complex_, complex_.mass[degree] @ closed, degree - 1)
        closed = closed - d(complex_, potential(complex_, found, functional, degree - 1), degree - 1)
    return closed
