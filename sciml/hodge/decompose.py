"""The Hodge decomposition of a cochain, w = d a + delta b + h."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.hodge.complex import Complex, check_cochain
from sciml.hodge.harmonic import harmonic_basis
from sciml.hodge.operators import d, d_transpose, masked, norm
from sciml.hodge.solve import Cohomology, cohomology, positive_definite, potential


class Decomposition(NamedTuple):
    """Orthogonal parts of a cochain that add up to it, and potentials of two of them.

    `exact` = d `potential`, and M `coexact` = d' M `copotential`; each potential is zero (shape 0) where there is none.
    `basis` spans the harmonic cochains (one a column) and `coefficients` are those of `harmonic`.
    """

    exact: Float[Array, "_n *_b"]
    coexact: Float[Array, "_n *_b"]
    harmonic: Float[Array, "_n *_b"]
    potential: Float[Array, "_l *_b"]
    copotential: Float[Array, "_u *_b"]
    basis: Float[Array, "_n _h"]
    coefficients: Float[Array, "_h *_b"]


def decompose(
    complex_: Complex,
    values: Float[Array, "n *b"],
    degree: int,
    *,
    found: Cohomology | None = None,
    basis: Float[Array, "n _h"] | None = None,
) -> Decomposition:
    """Decompose a cochain, or each of a batch, in the inner product and under the boundary condition of the complex.

    `found` and `basis` save the work of finding them again for the next cochain. Relative to a part, exact and harmonic
    parts vanish there; values that the cochain has there belong to the coexact part, which is orthogonal to all closed
    cochains that vanish there, and M `coexact` = d' M `copotential` holds off the part. Raises ValueError for cochains
    of another size, for values that are not finite, and where the inner products are not positive.

    >>> import jax.numpy as jnp, meshes
    >>> from sciml.hodge import build, decompose
    >>> parts = decompose(build(meshes.annulus(3)), jnp.arange(280.0), 1)
    >>> parts.basis.shape[1]
    1
    """
    check_cochain(complex_, values, degree)
    found = cohomology(complex_) if found is None else found
    basis = harmonic_basis(complex_, degree, found=found) if basis is None else basis
    with positive_definite():
        return jax.block_until_ready(_decompose(complex_, values, degree, found, basis))


@eqx.filter_jit
def _decompose(
    complex_: Complex, values: Float[Array, "n *b"], degree: int, found: Cohomology, basis: Float[Array, "n h"]
) -> Decomposition:
    flat = values.reshape(values.shape[0], -1)
    harmonic, coefficients = _projected(complex_, flat, degree, basis)
    rest = flat - harmonic
    low = jnp.zeros((0, flat.shape[1]), flat.dtype)
    exact, coexact, below, above = jnp.zeros_like(flat), jnp.zeros_like(flat), low, low
    if degree > 0:
        below = potential(complex_, found, d_transpose(complex_, complex_.mass[degree] @ rest, degree - 1), degree - 1)
        exact = d(complex_, below, degree - 1)
    if degree == complex_.degree:
        exact = masked(complex_, rest, degree)
        coexact = rest - exact
    elif degree == 0:
        coexact = rest
    else:
        coexact = rest - exact
    if degree < complex_.degree:
        functional = masked(complex_, complex_.mass[degree] @ coexact, degree)
        above = d(complex_, potential(complex_, found, functional, degree), degree)
    shaped = lambda part: part.reshape(part.shape[0], *values.shape[1:])  # noqa: E731
    return Decomposition(
        shaped(exact), shaped(coexact), shaped(harmonic), shaped(below), shaped(above), basis, shaped(coefficients)
    )


def _projected(
    complex_: Complex, values: Float[Array, "n b"], degree: int, basis: Float[Array, "n h"]
) -> tuple[Float[Array, "n b"], Float[Array, "h b"]]:
    """The harmonic part and its coefficients; the second pass takes off what rounding left."""
    if not basis.shape[1]:
        return jnp.zeros_like(values), jnp.zeros((0, values.shape[1]), values.dtype)
    weighted = complex_.mass[degree] @ basis
    gram = basis.T @ weighted
    first = jnp.linalg.solve(gram, weighted.T @ values)
    coefficients = first + jnp.linalg.solve(gram, weighted.T @ (values - basis @ first))
    return basis @ coefficients, coefficients


def quality(complex_: Complex, values: Float[Array, " n"], parts: Decomposition, degree: int) -> dict[str, float]:
    """How well the parts do: norms, the largest inner product of two of them and the reconstruction error, relative."""
    gram, left, size = _quality(
        complex_, values, jnp.stack([parts.exact, parts.coexact, parts.harmonic], axis=1), degree
    )
    norms = jnp.sqrt(jnp.maximum(jnp.diag(gram), 0))
    worst = float(jnp.max(jnp.abs(gram - jnp.diag(jnp.diag(gram)))))
    scale = float(size) or 1.0
    names = zip(("exact", "coexact", "harmonic"), norms.tolist(), strict=True)
    return {**dict(names), "orthogonality": worst / scale**2, "reconstruction": float(left) / scale}


@eqx.filter_jit
def _quality(
    complex_: Complex, values: Float[Array, " n"], stacked: Float[Array, "n 3"], degree: int
) -> tuple[Float[Array, "3 3"], Float[Array, ""], Float[Array, ""]]:
    gram = stacked.T @ (complex_.mass[degree] @ stacked)
    return gram, norm(complex_, values - jnp.sum(stacked, axis=1), degree), norm(complex_, values, degree)
