"""Lowest modes of the Hodge Laplacian of any degree: harmonic, exact and coexact, exact ones from coexact ones."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from sciml.hodge.complex import Complex, check_degree
from sciml.hodge.harmonic import harmonic_basis
from sciml.hodge.operators import d, d_transpose, masked, mass_matrix, stiffness_matrix
from sciml.hodge.solve import Cohomology, cohomology, positive_definite, potential


class Modes(NamedTuple):
    """Orthonormal modes of one degree, one a column, eigenvalues ascending within each family.

    `exact` = d of the coexact modes one degree below over the root of the eigenvalue, so that truncated bases keep d d
    = 0 to rounding. Eigenvalues of the harmonic modes are zero by topology, not by a threshold.
    """

    harmonic: Float[Array, "_n _h"]
    exact: Float[Array, "_n _e"]
    exact_values: Float[Array, " _e"]
    coexact: Float[Array, "_n _c"]
    coexact_values: Float[Array, " _c"]

    @property
    def values(self) -> Float[np.ndarray, " _m"]:
        """All eigenvalues, ascending."""
        every = [np.zeros(self.harmonic.shape[1]), np.asarray(self.exact_values), np.asarray(self.coexact_values)]
        return np.sort(np.concatenate(every))


def eigen(complex_: Complex, degree: int, count: int, *, found: Cohomology | None = None) -> Modes:
    """The `count` lowest modes of each family (fewer where a family has fewer), all harmonic ones besides.

    Solves d delta + delta d = lambda in the Whitney inner product, under the boundary condition of the complex, by
    ARPACK on the inverse of d' M d, which the gauges of topology make definite. Clusters are resolved as spaces:
    differentiate sums over a whole cluster (`cluster_mean`), never one vector of it. Raises ValueError for a degree or
    count out of range.

    >>> import meshes
    >>> from sciml.hodge import build, eigen
    >>> [round(float(v), 1) for v in eigen(build(meshes.sphere(6)), 1, 3).values]
    [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    """
    check_degree(complex_, degree)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"got count={count!r}; expected a whole number of at least 1")
    found = cohomology(complex_) if found is None else found
    harmonic = orthonormal(complex_, harmonic_basis(complex_, degree, found=found), degree)
    with positive_definite():
        coexact, above = _coexact(complex_, found, harmonic, degree, count)
        if degree == 0:
            return Modes(harmonic, coexact[:, :0], above[:0], coexact, above)
        lower = orthonormal(complex_, harmonic_basis(complex_, degree - 1, found=found), degree - 1)
        below, values = _coexact(complex_, found, lower, degree - 1, count)
    exact = d(complex_, below, degree - 1) / jnp.sqrt(values)
    return Modes(harmonic, exact, values, coexact, above)


@eqx.filter_jit
def orthonormal(complex_: Complex, basis: Float[Array, "n b"], degree: int) -> Float[Array, "n b"]:
    """A basis of the same space, orthonormal in the inner product."""
    for _ in range(2):
        if basis.shape[1]:
            gram = basis.T @ (complex_.mass[degree] @ basis)
            basis = jnp.linalg.solve(jnp.linalg.cholesky(gram), basis.T).T
    return basis


def _coexact(
    complex_: Complex, found: Cohomology, harmonic: Float[Array, "n _h"], degree: int, count: int
) -> tuple[Float[Array, "_n _c"], Float[Array, " _c"]]:
    """Lowest eigenpairs of d' M d b = lambda M b with lambda > 0."""
    size = complex_.count(degree)
    if degree == complex_.degree:
        return jnp.zeros((size, 0)), jnp.zeros(0)
    rank = int(jnp.sum(found.free[degree]))
    count = min(count, rank)
    if not count:
        return jnp.zeros((size, 0)), jnp.zeros(0)
    if count > min(rank // 2, size - 2):
        return _dense(complex_, degree, count, size - rank - int(jnp.sum(~complex_.keep[degree])))
    weigh = lambda x: np.asarray(_weighed(complex_, jnp.asarray(x), degree))  # noqa: E731
    inverse = lambda y: np.asarray(_inverse(complex_, found, harmonic, jnp.asarray(y).ravel(), degree))  # noqa: E731
    rng = np.random.default_rng(0)
    seed = masked(complex_, jnp.asarray(rng.normal(size=size)), degree)
    start = np.asarray(_coexact_part(complex_, found, harmonic, seed, degree))
    operator = lambda product: _Operator(size, product)  # noqa: E731
    values, vectors = eigsh(operator(weigh), k=count, M=operator(weigh), sigma=0.0, OPinv=operator(inverse), v0=start)
    return _polished(complex_, jnp.asarray(vectors[:, np.argsort(values)]), degree)


class _Operator(LinearOperator):
    """A square operator for SciPy."""

    def __init__(self, size: int, product: Callable[[np.ndarray], np.ndarray]) -> None:
        super().__init__(np.dtype(np.float64), (size, size))
        self._product = product

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._product(x)


def _dense(complex_: Complex, degree: int, count: int, kernel: int) -> tuple[Array, Array]:
    """The same where nearly all modes are wanted: a dense problem."""
    _, vectors = eigh(stiffness_matrix(complex_, degree).toarray(), mass_matrix(complex_, degree).toarray())
    full = np.zeros((complex_.count(degree), count))
    full[np.asarray(complex_.keep[degree])] = vectors[:, kernel : kernel + count]
    return _polished(complex_, jnp.asarray(full), degree)


@eqx.filter_jit
def _weighed(complex_: Complex, values: Float[Array, " n"], degree: int) -> Float[Array, " n"]:
    return masked(complex_, complex_.mass[degree] @ masked(complex_, values, degree), degree)


@eqx.filter_jit
def _inverse(
    complex_: Complex, found: Cohomology, harmonic: Float[Array, "n _h"], functional: Float[Array, " n"], degree: int
) -> Float[Array, " n"]:
    """The coexact solution of d' M d u = functional, for functionals that vanish on closed cochains."""
    return _coexact_part(complex_, found, harmonic, potential(complex_, found, functional, degree), degree)


def _coexact_part(
    complex_: Complex, found: Cohomology, harmonic: Float[Array, "n _h"], values: Float[Array, " n"], degree: int
) -> Float[Array, " n"]:
    """Values less their exact and harmonic parts."""
    if degree > 0:
        functional = d_transpose(complex_, complex_.mass[degree] @ values, degree - 1)
        values = values - d(complex_, potential(complex_, found, functional, degree - 1), degree - 1)
    return values - harmonic @ (harmonic.T @ (complex_.mass[degree] @ values))


@eqx.filter_jit
def _polished(complex_: Complex, vectors: Float[Array, "n c"], degree: int) -> tuple[Array, Array]:
    """Rayleigh-Ritz in the span of the vectors: orthonormal modes and their eigenvalues."""
    gram = vectors.T @ (complex_.mass[degree] @ vectors)
    lower = jnp.linalg.cholesky(gram)
    basis = jnp.linalg.solve(lower, vectors.T).T
    values, turn = jnp.linalg.eigh(basis.T @ (complex_.stiffness[degree] @ basis))
    return basis @ turn, values


@eqx.filter_jit
def cluster_mean(complex_: Complex, modes: Float[Array, "n c"], degree: int) -> Float[Array, ""]:
    """Mean eigenvalue of a cluster of coexact modes (found before), as a function of the metric.

    The trace of the projector on the cluster times d' M d, over its dimension, which is smooth where single eigenvalues
    cross; its derivative by a change of masses is that of the eigenvalues' mean (Hellmann-Feynman), since modes may be
    held fixed.
    """
    modes = jax.lax.stop_gradient(modes)
    gram = modes.T @ (complex_.mass[degree] @ modes)
    energy = modes.T @ (complex_.stiffness[degree] @ modes)
    return jnp.trace(jnp.linalg.solve(gram, energy)) / modes.shape[1]
