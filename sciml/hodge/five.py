"""The decomposition of a cochain on a mesh with boundary into five orthogonal parts."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from sciml.hodge.complex import Complex, check_cochain
from sciml.hodge.decompose import decompose
from sciml.hodge.eigen import orthonormal
from sciml.hodge.harmonic import harmonic_basis
from sciml.hodge.operators import d, d_transpose
from sciml.hodge.solve import cohomology, potential


class FiveParts(NamedTuple):
    """Orthogonal parts that add up to a cochain on a mesh with boundary.

    `exact` = d a with a zero on the boundary; `coexact` = delta b under natural conditions; `harmonic` under natural
    conditions (dimension b_p), `harmonic_relative` zero on the boundary (dimension b_p relative); `centre` is closed
    and co-closed inside, exact and coexact at once, and lives by its boundary values.
    """

    exact: Float[Array, "_n *_b"]
    coexact: Float[Array, "_n *_b"]
    harmonic: Float[Array, "_n *_b"]
    harmonic_relative: Float[Array, "_n *_b"]
    centre: Float[Array, "_n *_b"]


def decompose_five(absolute: Complex, relative: Complex, values: Float[Array, "n *b"], degree: int) -> FiveParts:
    """Decompose with the complex of a mesh and the complex of the same mesh relative to its boundary.

    Raises ValueError where the two kinds of harmonic cochains are not orthogonal, as on a torus with a hole: there the
    five parts are not a direct sum. Source: K. Poelke and K. Polthier, "Boundary-aware Hodge decompositions for
    piecewise constant vector fields" (2016); R. Zhao, M. Desbrun, G.-W. Wei, Y. Tong, "3D Hodge decompositions of edge-
    and face-based vector fields" (2019).
    """
    check_cochain(absolute, values, degree)
    if absolute.count(degree) != relative.count(degree) or not bool(jnp.all(absolute.keep[0])):
        raise ValueError(
            "got complexes of two meshes, or both relative; expected build(mesh) and build(mesh, relative=...)"
        )
    parts = decompose(absolute, values, degree)
    basis = orthonormal(absolute, harmonic_basis(relative, degree), degree)
    own = orthonormal(absolute, parts.basis, degree)
    overlap = float(jnp.max(jnp.abs(own.T @ (absolute.mass[degree] @ basis)), initial=0.0))
    if overlap > 1e-8:
        raise ValueError(
            f"got harmonic cochains of both kinds with an inner product of {overlap:.2g}; expected orthogonal ones "
            "(the mesh joins boundaries around a handle): decompose with either complex instead"
        )
    harmonic_relative = basis @ (basis.T @ (absolute.mass[degree] @ parts.exact))
    left = parts.exact - harmonic_relative
    if degree > 0:
        functional = d_transpose(relative, absolute.mass[degree] @ left, degree - 1)
        exact = d(absolute, potential(relative, cohomology(relative), functional, degree - 1), degree - 1)
    else:
        exact = jnp.zeros_like(left)
    return FiveParts(exact, parts.coexact, parts.harmonic, harmonic_relative, left - exact)
