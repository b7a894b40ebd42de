"""The differential, its adjoint, masses and Hodge Laplacians, as functions, lineax operators and SciPy matrices."""

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
import scipy.sparse
from jaxtyping import Array, Float

from sciml.hodge.complex import Complex, check_degree
from sciml.hodge.sparse import Sparse, definite_solve, restricted


def d(complex_: Complex, values: Float[Array, "n *b"], degree: int) -> Float[Array, "_m *b"]:
    """The differential of a p-cochain, (d w)(s) = sum_i (-1)^i w(s without vertex i); zero on the part."""
    check_degree(complex_, degree, most=complex_.degree - 1)
    facets = complex_.facets[degree + 1]
    total = values[facets[:, 0]]
    for i in range(1, facets.shape[1]):
        total = total + (-1) ** i * values[facets[:, i]]
    return masked(complex_, total, degree + 1)


def d_transpose(complex_: Complex, values: Float[Array, "n *b"], degree: int) -> Float[Array, "_m *b"]:
    """The transpose of the differential from degree to degree + 1, without any inner product."""
    check_degree(complex_, degree, most=complex_.degree - 1)
    return masked(complex_, complex_.transpose[degree] @ values, degree)


def masked(complex_: Complex, values: Float[Array, "n *b"], degree: int) -> Float[Array, "n *b"]:
    """The cochain with zeros on the part that the complex is relative to."""
    keep = complex_.keep[degree]
    return values * keep.reshape(keep.shape + (1,) * (values.ndim - 1)).astype(values.dtype)


def mass(complex_: Complex, degree: int) -> Sparse:
    """The inner product of Whitney p-forms, the identity on the part."""
    check_degree(complex_, degree)
    return restricted(complex_.mass[degree], complex_.keep[degree])


def stiffness(complex_: Complex, degree: int) -> Sparse:
    """d' M_{p+1} d, positive semi-definite, the identity on the part. For functions the half-cotangent matrix."""
    check_degree(complex_, degree, most=complex_.degree - 1)
    return restricted(complex_.stiffness[degree], complex_.keep[degree])


@eqx.filter_jit
def inner(complex_: Complex, one: Float[Array, " n"], other: Float[Array, " n"], degree: int) -> Float[Array, ""]:
    """The inner product of two cochains."""
    return jnp.vdot(one, complex_.mass[degree] @ other)


@eqx.filter_jit
def norm(complex_: Complex, values: Float[Array, "n *b"], degree: int) -> Float[Array, "*b"]:
    """The norm of a cochain, or of each of a batch."""
    return jnp.sqrt(jnp.maximum(jnp.sum(values * (complex_.mass[degree] @ values), axis=0), 0))


@eqx.filter_jit
def mass_inverse(complex_: Complex, values: Float[Array, "n *b"], degree: int) -> Float[Array, "n *b"]:
    """M_p^-1 applied to a functional, by a sparse factorisation (the inverse itself is dense)."""
    check_degree(complex_, degree)
    return definite_solve(mass(complex_, degree), masked(complex_, values, degree))


@eqx.filter_jit
def codifferential(complex_: Complex, values: Float[Array, "n *b"], degree: int) -> Float[Array, "_m *b"]:
    """The adjoint of d in the inner products, M_{p-1}^-1 d' M_p, from p-cochains to (p - 1)-cochains."""
    check_degree(complex_, degree, least=1)
    functional = d_transpose(complex_, complex_.mass[degree] @ masked(complex_, values, degree), degree - 1)
    return mass_inverse(complex_, functional, degree - 1)


@eqx.filter_jit
def laplacian(complex_: Complex, values: Float[Array, "n *b"], degree: int) -> Float[Array, "n *b"]:
    """The Hodge Laplacian d delta + delta d of a cochain; positive semi-definite in the inner product."""
    check_degree(complex_, degree)
    total = jnp.zeros_like(values)
    if degree > 0:
        total = total + d(complex_, codifferential(complex_, values, degree), degree - 1)
    if degree < complex_.degree:
        total = total + codifferential(complex_, d(complex_, values, degree), degree + 1)
    return total


def differential_operator(complex_: Complex, degree: int) -> lx.FunctionLinearOperator:
    """d as a lineax operator."""
    return _operator(complex_, degree, lambda w: d(complex_, w, degree))


def codifferential_operator(complex_: Complex, degree: int) -> lx.FunctionLinearOperator:
    """The codifferential as a lineax operator."""
    return _operator(complex_, degree, lambda w: codifferential(complex_, w, degree))


def mass_operator(complex_: Complex, degree: int) -> lx.FunctionLinearOperator:
    """The mass as a lineax operator."""
    matrix = mass(complex_, degree)
    return _operator(complex_, degree, lambda w: matrix @ w, lx.positive_semidefinite_tag)


def stiffness_operator(complex_: Complex, degree: int) -> lx.FunctionLinearOperator:
    """d' M d as a lineax operator."""
    matrix = stiffness(complex_, degree)
    return _operator(complex_, degree, lambda w: matrix @ w, lx.positive_semidefinite_tag)


def laplacian_operator(complex_: Complex, degree: int) -> lx.FunctionLinearOperator:
    """The weak Hodge Laplacian M (d delta + delta d) as a lineax operator, symmetric and positive semi-definite."""
    weak = lambda w: complex_.mass[degree] @ laplacian(complex_, w, degree)  # noqa: E731
    return _operator(complex_, degree, lambda w: masked(complex_, weak(w), degree), lx.positive_semidefinite_tag)


def _operator(complex_: Complex, degree: int, function, tags=()) -> lx.FunctionLinearOperator:
    shape = jax.ShapeDtypeStruct((complex_.count(degree),), complex_.mass[degree].value.dtype)
    return lx.FunctionLinearOperator(function, shape, tags)


def d_matrix(complex_: Complex, degree: int) -> scipy.sparse.csr_array:
    """The differential as a SciPy matrix of integers -1, 0 and 1, without the rows and columns of the part."""
    check_degree(complex_, degree, most=complex_.degree - 1)
    facets = np.asarray(complex_.facets[degree + 1])
    rows = np.repeat(np.arange(len(facets)), facets.shape[1])
    signs = np.tile((-1) ** np.arange(facets.shape[1]), len(facets)).astype(np.int64)
    shape = (len(facets), complex_.count(degree))
    matrix = scipy.sparse.csr_array(scipy.sparse.coo_array((signs, (rows, facets.ravel())), shape=shape))
    return matrix[np.asarray(complex_.keep[degree + 1])][:, np.asarray(complex_.keep[degree])]


def mass_matrix(complex_: Complex, degree: int) -> scipy.sparse.csr_array:
    """The mass as a SciPy matrix, without the rows and columns of the part."""
    check_degree(complex_, degree)
    keep = np.asarray(complex_.keep[degree])
    return complex_.mass[degree].scipy()[keep][:, keep]


def stiffness_matrix(complex_: Complex, degree: int) -> scipy.sparse.csr_array:
    """d' M d as a SciPy matrix, without the rows and columns of the part."""
    check_degree(complex_, degree, most=complex_.degree - 1)
    keep = np.asarray(complex_.keep[degree])
    return complex_.stiffness[degree].scipy()[keep][:, keep]


@eqx.filter_jit
def dirichlet_energy(complex_: Complex, values: Float[Array, " n"], degree: int) -> Float[Array, ""]:
    """|d w|^2 / 2; differentiable in the cochain and, through `measured`, in the shape."""
    return jnp.vdot(values, complex_.stiffness[degree] @ values) / 2
