"""Hodge theory on meshes: topology exact, closed forms, rates, other libraries as oracles, gradients in the shape."""

import functools
import json
import logging
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import skfem
from scipy.linalg import eigh
from skfem.helpers import curl, div, dot, grad

import meshes
from meshes.shapes import ALL, TOPOLOGIES
from meshes.tables import find
from sciml import hodge
from sciml.__main__ import main
from sciml.hodge.complex import circumcentric
from sciml.hodge.decompose import quality
from sciml.hodge.harmonic import coclosed
from sciml.hodge.operators import (
    codifferential_operator,
    d_matrix,
    d_transpose,
    differential_operator,
    laplacian_operator,
    mass_inverse,
    mass_matrix,
    stiffness_matrix,
)
from sciml.hodge.sparse import pattern, sparse

DATA = Path(__file__).parent / "data"
FILES = ("bob_small.ply", "fan3.obj", "hourglass_ico.obj", "moebius.obj", "annulus.msh", "beams.msh", "plate_holes.STL")
SIZES = {"icosphere": 1, "disk_with_holes": 10, "shell": 1, "solid_torus": 1, "ball": 2, "cube": 2}
CROSS = np.array([[0.0, 1], [1, 0], [1, 1], [1, 2], [2, 1]])
FOUR = [[0, 1, 2], [2, 1, 4], [3, 2, 4], [0, 2, 3]]


@functools.cache
def shape(name):
    return meshes.read(DATA / name) if "." in name else ALL[name](SIZES.get(name, 3))


@functools.cache
def built(name, relative=None):
    return hodge.build(shape(name), relative=relative)


def noise(complex_, degree, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=complex_.count(degree)))


def order(errors, factor=2.0):
    """Observed order of convergence at the finest step."""
    return np.log(errors[-2] / errors[-1]) / np.log(factor)


# exact in integers, orthogonal to rounding


EVERY_DEGREE = ("interval", "annulus", "torus", "klein", "cube", "shell")
CASES = [(name, 1) for name in (*ALL, *FILES)] + [
    (n, p) for n in EVERY_DEGREE for p in range(len(TOPOLOGIES[n].betti)) if p != 1
]


CLOSED = {name for name, topology in TOPOLOGIES.items() if topology.betti == topology.relative}
CLOSED |= {"bob_small.ply", "hourglass_ico.obj", "plate_holes.STL"}
CONDITIONS = [(n, p, r) for n, p in CASES for r in (None, "boundary") if r is None or n not in CLOSED]


@pytest.mark.parametrize(("name", "degree", "relative"), CONDITIONS)
def test_parts_are_orthogonal_add_up_and_harmonic_dimension_is_betti(name, degree, relative):
    complex_, found = built(name, relative), topology(name, relative)
    basis = hodge.harmonic_basis(complex_, degree, found=found)
    assert basis.shape == (complex_.count(degree), meshes.betti(shape(name), relative)[degree])
    closed, coclosed = defects(complex_, basis, degree)
    assert closed < 1e-12 and coclosed < 1e-12
    values = noise(complex_, degree)
    parts = hodge.decompose(complex_, values, degree, found=found, basis=basis)
    figures = quality(complex_, values, parts, degree)
    assert figures["orthogonality"] < 1e-12 and figures["reconstruction"] < 1e-12
    if not basis.shape[1]:
        assert not jnp.any(parts.harmonic)


@functools.cache
def topology(name, relative):
    return hodge.cohomology(built(name, relative))


def defects(complex_, basis, degree):
    """How far a basis is from closed and co-closed, relative to its entries."""
    values, weighted = np.asarray(basis), complex_.mass[degree].scipy() @ np.asarray(basis)
    closed = coclosed = 0.0
    keep = [np.asarray(k) for k in complex_.keep]
    if degree < complex_.degree:
        closed = np.abs(d_matrix(complex_, degree) @ values[keep[degree]]).max(initial=0) / np.abs(values).max(
            initial=1e-300
        )
    if degree > 0:
        left = d_matrix(complex_, degree - 1).T @ weighted[keep[degree]]
        coclosed = np.abs(left).max(initial=0) / np.abs(weighted).max(initial=1e-300)
    return closed, coclosed


@pytest.mark.parametrize("relative", [None, "boundary"])
@pytest.mark.parametrize("name", [*ALL, *FILES])
def test_differential_squares_to_zero_in_integers(name, relative):
    complex_ = built(name, relative)
    for degree in range(2, complex_.degree + 1):
        product = d_matrix(complex_, degree - 1) @ d_matrix(complex_, degree - 2)
        product.eliminate_zeros()
        assert product.dtype.kind == "i" and product.nnz == 0


@pytest.mark.parametrize("name", ["torus", "annulus"])
def test_decomposing_is_a_projection_and_takes_batches(name):
    complex_ = built(name)
    batch = jnp.stack([noise(complex_, 1, seed) for seed in range(3)], axis=1)
    parts = hodge.decompose(complex_, batch, 1)
    one = hodge.decompose(complex_, batch[:, 1], 1, basis=parts.basis)
    for kind in ("exact", "coexact", "harmonic", "potential", "copotential"):
        assert jnp.allclose(getattr(parts, kind)[:, 1], getattr(one, kind), atol=1e-11 * float(jnp.abs(batch).max()))
    assert jnp.allclose(hodge.d(complex_, parts.potential, 0), parts.exact, atol=1e-12)
    for kind in ("exact", "coexact", "harmonic"):
        again = hodge.decompose(complex_, getattr(parts, kind), 1, basis=parts.basis)
        assert jnp.allclose(getattr(again, kind), getattr(parts, kind), atol=1e-11)
    weighted = complex_.mass[1] @ parts.coexact
    back = d_transpose(complex_, complex_.mass[2] @ parts.copotential, 1)
    assert jnp.allclose(weighted, back, atol=1e-11 * float(jnp.abs(weighted).max()))


def test_exact_of_a_gradient_is_the_gradient():
    complex_ = built("genus")
    function = noise(complex_, 0)
    parts = hodge.decompose(complex_, hodge.d(complex_, function, 0), 1)
    assert float(hodge.norm(complex_, parts.coexact + parts.harmonic, 1)) < 1e-12 * float(
        hodge.norm(complex_, parts.exact, 1)
    )
    assert jnp.ptp(parts.potential - function) < 1e-12


def test_periods_of_the_harmonic_basis_are_the_identity():
    for name in ("torus", "genus", "annulus", "disk_with_holes"):
        complex_, found = built(name), topology(name, None)
        basis = hodge.harmonic_basis(complex_, 1, found=found)
        loops = _loops(complex_, found)
        assert np.abs(loops @ np.asarray(basis) - np.eye(len(loops))).max() < 1e-12
        assert not (loops @ np.asarray(d_matrix(complex_, 0).toarray())).any()


def _loops(complex_, found):
    """The loop that each generator's own edge closes in the spanning tree, as integer chains."""
    edges = np.asarray(complex_.simplices[1])
    free = np.asarray(found.free[1])
    tree = ~free
    tree[np.asarray(found.loops)] = False
    neighbours = {}
    for number in np.flatnonzero(tree):
        a, b = edges[number].tolist()
        neighbours.setdefault(a, []).append((b, number, 1))
        neighbours.setdefault(b, []).append((a, number, -1))
    rows = []
    for own in np.asarray(found.loops).tolist():
        start, goal = edges[own].tolist()
        come, todo = {goal: None}, [goal]
        while start not in come:
            here = todo.pop(0)
            for there, number, sign in neighbours.get(here, []):
                if there not in come:
                    come[there] = (here, number, sign)
                    todo.append(there)
        row = np.zeros(len(edges), int)
        row[own] = 1
        while come[start] is not None:
            start, number, sign = come[start]
            row[number] += sign
        rows.append(row)
    return np.array(rows)


# inner products against closed forms and other libraries


def test_half_cotangent_matrix_of_the_cross():
    """PyG issue 6037, libigl issue 382, pyro: the Laplacian on four triangles about a point."""
    complex_ = hodge.build(meshes.Mesh(CROSS, FOUR))
    matrix = stiffness_matrix(complex_, 0).toarray()
    right = np.diag([1.0, 1, 4, 1, 1])
    right[2, [0, 1, 3, 4]] = right[[0, 1, 3, 4], 2] = -1
    assert np.abs(matrix - right).max() < 1e-14
    assert np.linalg.eigvalsh(matrix) == pytest.approx([0, 1, 1, 1, 5], abs=1e-13)
    lumped = mass_matrix(complex_, 0).sum(axis=1)
    assert lumped == pytest.approx(np.array([1, 1, 2, 1, 1]) / 3)
    assert eigh(matrix, np.diag(lumped))[0] == pytest.approx([0, 3, 3, 3, 9], abs=1e-13)
    x = jnp.asarray(CROSS[:, 0])
    assert float(2 * hodge.dirichlet_energy(complex_, x, 0)) == pytest.approx(2.0)
    step = eigh(np.diag(lumped), np.diag(lumped) + 0.1 * matrix, eigvals_only=True)
    assert sorted(step)[:-1] == pytest.approx([1 / 1.9, 1 / 1.3, 1 / 1.3, 1 / 1.3]) and max(step) == pytest.approx(1)


def test_sign_and_factor_of_the_cotangent_matrix():
    mesh = meshes.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 1], [2, 1, 0]], [[0, 1, 2], [1, 3, 2]])
    matrix = stiffness_matrix(hodge.build(mesh), 0).toarray()
    upper = {(0, 1): -0.707107, (0, 2): 0.0, (0, 3): 0.0, (1, 2): -0.642229, (1, 3): -0.288675, (2, 3): -0.288675}
    assert all(matrix[i, j] == pytest.approx(v, abs=1e-6) for (i, j), v in upper.items())
    assert np.diag(matrix) == pytest.approx([0.707107, 1.638010, 0.930904, 0.577350], abs=1e-6)


def test_adjoint_of_the_differential():
    """discretize pull request 272, CIL issue 448: <d u, w> = <u, delta w>; without the mass it fails."""
    complex_ = hodge.build(meshes.Mesh(CROSS, FOUR))
    u, w = noise(complex_, 0), noise(complex_, 1)
    left = float(hodge.inner(complex_, hodge.d(complex_, u, 0), w, 1))
    right = float(hodge.inner(complex_, u, hodge.codifferential(complex_, w, 1), 0))
    assert left == pytest.approx(right, rel=1e-12)
    wrong = float(hodge.inner(complex_, u, mass_inverse(complex_, d_transpose(complex_, w, 0), 0), 0))
    assert abs(left - wrong) > 0.1 * abs(left)
    for name, degree in (("ball", 2), ("ball", 3), ("torus", 2)):
        complex_ = built(name)
        u, w = noise(complex_, degree - 1), noise(complex_, degree, 1)
        left = hodge.inner(complex_, differential_operator(complex_, degree - 1).mv(u), w, degree)
        right = hodge.inner(complex_, u, codifferential_operator(complex_, degree).mv(w), degree - 1)
        assert float(left) == pytest.approx(float(right), rel=1e-11)


def test_duplicate_entries_are_summed_once():
    """jax issues 8889 and 21031."""
    rows, columns = np.array([0, 1, 0, 0, 1, 1]), np.array([1, 0, 1, 2, 0, 2])
    laid, place = pattern(rows, columns, (3, 3))
    values = jnp.zeros(laid.size).at[place].add(jnp.arange(1.0, 7.0))
    matrix = sparse(laid, values).scipy().toarray()
    assert matrix.tolist() == [[0, 4, 4], [7, 0, 6], [0, 0, 0]]
    assert (matrix * matrix).tolist() == [[0, 16, 16], [49, 0, 36], [0, 0, 0]]
    assert (sparse(laid, values) @ jnp.array([1.0, 2, 3])).tolist() == [20, 25, 0]


def test_long_rows_go_to_a_tail():
    """A fan of 60 triangles about one point: its long row costs no padding for the others."""
    angle = 2 * np.pi * np.arange(60) / 60
    points = np.concatenate([[[0.0, 0.0]], np.stack([np.cos(angle), np.sin(angle)], axis=1)])
    complex_ = hodge.build(meshes.Mesh(points, [[0, 1 + i, 1 + (i + 1) % 60] for i in range(60)]))
    assert complex_.mass[0].pattern.index.shape[0] < 10 and len(complex_.mass[0].tail) > 40
    x = noise(complex_, 0)
    for matrix in (complex_.mass[0], complex_.stiffness[0]):
        assert np.allclose(matrix @ x, matrix.scipy() @ np.asarray(x), atol=1e-13)
    solved = hodge.solve(complex_, jnp.asarray(points[:, 0]))
    assert np.allclose(
        stiffness_matrix(complex_, 0) @ solved.values, mass_matrix(complex_, 0) @ points[:, 0], atol=1e-12
    )


def _skfem(mesh, element, form):
    kind = {2: skfem.MeshTri1, 3: skfem.MeshTet1}[mesh.degree]
    basis = skfem.Basis(kind(mesh.points.T.copy(), mesh.cells.T.copy(), sort_t=True), element)
    return skfem.BilinearForm(form).assemble(basis).toarray()


@pytest.mark.parametrize(
    ("name", "degree", "element", "d_form"),
    [
        ("disk", 0, skfem.ElementTriP1(), lambda u, v, _: dot(grad(u), grad(v))),
        ("disk", 1, skfem.ElementTriN1(), lambda u, v, _: curl(u) * curl(v)),
        ("ball", 0, skfem.ElementTetP1(), lambda u, v, _: dot(grad(u), grad(v))),
        ("ball", 1, skfem.ElementTetN1(), lambda u, v, _: dot(curl(u), curl(v))),
        ("ball", 2, skfem.ElementTetRT1(), lambda u, v, _: div(u) * div(v)),
    ],
)
def test_scikit_fem_has_the_same_forms(name, degree, element, d_form):
    """Generalised eigenvalues do not mind the signs and scales of degrees of freedom."""
    mesh = ALL[name](2, layout=meshes.Jittered(0.2, seed=1))
    complex_ = hodge.build(mesh)
    mass = _skfem(mesh, element, (lambda u, v, _: u * v) if degree == 0 else (lambda u, v, _: dot(u, v)))
    stiff = _skfem(mesh, element, d_form)
    theirs = eigh(stiff, mass, eigvals_only=True)
    ours = eigh(
        stiffness_matrix(complex_, degree).toarray(), mass_matrix(complex_, degree).toarray(), eigvals_only=True
    )
    assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-9 * theirs.max())


def test_masses_measure_constant_forms():
    """A constant field has the same size in every degree: |dx|^2 = |dy ^ dz|^2 = volume."""
    complex_, report = built("ball"), meshes.check(shape("ball"))
    points = complex_.points
    one = jnp.ones(complex_.count(0))
    dx = hodge.d(complex_, points[:, 0], 0)
    assert float(hodge.inner(complex_, one, one, 0)) == pytest.approx(report.volume, rel=1e-13)
    assert float(hodge.inner(complex_, dx, dx, 1)) == pytest.approx(report.volume, rel=1e-13)
    a, b, c = (points[complex_.simplices[2][:, i]] for i in range(3))
    flux = jnp.cross(b - a, c - a)[:, 0] / 2
    assert float(hodge.inner(complex_, flux, flux, 2)) == pytest.approx(report.volume, rel=1e-13)
    assert float(jnp.abs(hodge.d(complex_, flux, 2)).max()) < 1e-15


def test_lengths_and_points_give_the_same_forms():
    for name in ("torus", "ball", "interval"):
        mesh = shape(name)
        made = meshes.tables(mesh)
        edge = mesh.points[made.simplices[1]]
        lengths = np.linalg.norm(edge[:, 1] - edge[:, 0], axis=1)
        other = hodge.build(meshes.Mesh(mesh.points, mesh.cells, lengths=lengths))
        for a, b in zip((*other.mass, *other.stiffness), (*built(name).mass, *built(name).stiffness), strict=True):
            assert jnp.allclose(a.value, b.value, rtol=1e-9, atol=1e-12 * float(jnp.abs(b.value).max()))


# solves


def test_neumann_problem_of_the_square():
    """jax-fem issue 67, LaPy pull request 69: order two; a mean is a defect; gradients have mean zero."""
    errors = []
    for n in (8, 16, 32):
        complex_ = hodge.build(meshes.square(n))
        x, y = complex_.points.T
        f = jnp.cos(jnp.pi * x) * jnp.cos(jnp.pi * y)
        errors.append(float(hodge.norm(complex_, hodge.solve(complex_, f).values - f / (2 * jnp.pi**2), 0)))
    assert abs(order(errors) - 2) < 0.15
    assert float(hodge.solve(complex_, f).values[0]) == pytest.approx(0.0506605918, rel=5e-3)
    with pytest.raises(ValueError, match=r"mean 1\.00\d* on a component .*defect 1\.00"):
        hodge.solve(complex_, f + 1.0)
    found = hodge.cohomology(complex_)
    gradient = jax.grad(lambda f: jnp.sum(hodge.poisson(complex_, found, f).values ** 3))(f)
    assert bool(jnp.all(jnp.isfinite(gradient))) and abs(float(gradient.sum())) < 1e-12 * float(jnp.abs(gradient).sum())
    step = noise(complex_, 0)
    value = lambda t: float(jnp.sum(hodge.poisson(complex_, found, f + t * step).values ** 3))  # noqa: E731
    assert float(gradient @ step) == pytest.approx((value(1e-3) - value(-1e-3)) / 2e-3, rel=1e-6)


def test_dirichlet_problem_and_several_right_hand_sides():
    errors = []
    for n in (8, 16, 32):
        complex_ = hodge.build(meshes.square(n, layout=meshes.Jittered(0.2, seed=2)), relative="boundary")
        x, y = complex_.points.T
        u = jnp.sin(jnp.pi * x) * jnp.sin(jnp.pi * y)
        solved = hodge.solve(complex_, jnp.stack([2 * jnp.pi**2 * u, jnp.ones_like(x)], axis=1))
        errors.append(float(hodge.norm(complex_, solved.values[:, 0] - u, 0)))
        assert not jnp.any(solved.values[~complex_.keep[0]]) and not jnp.any(solved.defect)
    assert abs(order(errors) - 2) < 0.15
    assert float(solved.values[:, 1].max()) == pytest.approx(0.0736713, rel=5e-3)  # torsion of the square


def test_loose_parts_and_vertices_have_their_own_constants():
    """robust-laplacians issue 1, libigl 817: two parts, one isolated vertex; each mean is checked by itself."""
    points = np.concatenate([CROSS, [[9.0, 9.0]], CROSS + 5])
    cells = np.concatenate([FOUR, np.array(FOUR) + 6])
    complex_ = hodge.build(meshes.Mesh(points, cells))
    assert np.sum(np.linalg.eigvalsh(complex_.stiffness[0].scipy().toarray()) < 1e-12) == 3
    assert float((complex_.mass[0] @ jnp.ones(11))[5]) == 0.0
    assert hodge.harmonic_basis(complex_, 0).shape == (11, 3)
    f = jnp.asarray(np.concatenate([CROSS[:, 0] - 1, [0.0], CROSS[:, 1] - 1]))
    assert bool(jnp.all(jnp.isfinite(hodge.solve(complex_, f).values)))
    with pytest.raises(ValueError, match="mean 1 on a component"):
        hodge.solve(complex_, f.at[6:].add(1.0))


# harmonic energies


def _energy(mesh, degree=1, relative=None):
    complex_ = hodge.build(mesh, relative=relative)
    basis = hodge.harmonic_basis(complex_, degree)
    return np.asarray(basis.T @ (complex_.mass[degree] @ basis))


@pytest.mark.parametrize(
    ("relative", "right"),
    [(None, 2 * np.pi / np.log(2)), ("boundary", 2 * np.pi / np.log(2))],
    ids=["natural", "essential"],
)
def test_harmonic_energy_of_the_annulus(relative, right):
    """d theta with period 2 pi has energy 2 pi ln(b/a); dr / (r ln(b/a)) has 2 pi / ln(b/a). Periods one here."""
    right = np.log(2) / (2 * np.pi) if relative is None else right
    errors = [
        abs(_energy(meshes.annulus(n, layout=meshes.Jittered(0.15, seed=1)), 1, relative)[0, 0] / right - 1)
        for n in (4, 8, 16)
    ]
    assert abs(order(errors) - 2) < 0.15


def test_harmonic_energies_of_the_torus():
    """Energies for periods one: r / sqrt(R^2 - r^2) round the tube, the least of all classes; their product is one."""
    right, errors = 0.4 / np.sqrt(1 - 0.4**2), []
    classes = np.array([(i, j) for i in range(-4, 5) for j in range(-4, 5) if (i, j) != (0, 0)])
    for n in (12, 24):
        gram = _energy(meshes.torus(n))
        least = np.einsum("ci,ij,cj->c", classes, gram, classes).min()
        errors.append([abs(least / right - 1), abs(np.linalg.det(gram) - 1)])
    assert np.all(np.abs(np.log2(np.divide(*errors)) - 2) < 0.15)


def test_flux_through_the_shell():
    """r / |r|^3 / 4 pi has energy (1/a - 1/b) / 4 pi for flux one."""
    errors = []
    for n in (1, 2, 4):
        mesh = meshes.shell(n)
        complex_ = hodge.build(mesh)
        basis = hodge.harmonic_basis(complex_, 2)
        made = meshes.tables(mesh)
        rows = mesh.groups["outer"]
        number = find(made.simplices[2], rows)
        sign = np.array([round(np.linalg.det(np.eye(3)[np.argsort(np.argsort(r))])) for r in rows])
        flux = float(jnp.sum(basis[number, 0] * sign))
        errors.append(abs(1 / flux**2 / ((1 / 0.5 - 1) / (4 * np.pi)) - 1))
    assert abs(order(errors) - 2) < 0.15


# spectra


def _values(mesh, degree, count, relative=None):
    modes = hodge.eigen(hodge.build(mesh, relative=relative), degree, count)
    return modes, np.sort(np.concatenate([modes.exact_values, modes.coexact_values]))


def test_spectra_of_the_sphere():
    """l (l + 1), 2 l + 1 times for functions and 2-forms; 1-forms have the values of both; order two."""
    errors = {"exact": [], "coexact": []}
    for level in (2, 3):
        modes = hodge.eigen(hodge.build(meshes.icosphere(level)), 1, 4)
        assert modes.harmonic.shape[1] == 0
        for family, found in errors.items():
            values = np.asarray(getattr(modes, f"{family}_values"))
            found.append(abs(values[:3].mean() / 2 - 1))
            assert np.ptp(values[:3]) < 1e-8 and values[3] == pytest.approx(6, rel=0.06)
    assert all(abs(order(e) - 2) < 0.15 for e in errors.values())
    assert errors["coexact"] == pytest.approx([2.70e-2, 6.72e-3], rel=5e-3)


def test_spectrum_of_the_flat_torus():
    """|k|^2: 1-forms 0 x 2, 1 x 8, 2 x 8."""
    errors = []
    for n in (8, 16):
        modes, values = _values(meshes.flat_torus(n), 1, 8)
        assert modes.harmonic.shape[1] == 2
        errors.append(abs(values[:8].mean() - 1))
        assert values[8:16].mean() == pytest.approx(2, rel=0.1)
    assert abs(order(errors) - 2) < 0.15


def test_spectra_of_the_disc():
    """1-forms have the Neumann values of functions in one family and the Dirichlet values in the other."""
    neumann, dirichlet = [3.38996, 3.38996, 9.32836, 9.32836, 14.68197], [5.78319, 14.68197, 14.68197, 26.3746, 26.3746]
    natural = hodge.eigen(hodge.build(meshes.disk(24)), 1, 5)
    essential = hodge.eigen(hodge.build(meshes.disk(24), relative="boundary"), 1, 5)
    assert np.asarray(natural.exact_values) == pytest.approx(neumann, rel=4e-3)
    assert np.asarray(natural.coexact_values) == pytest.approx(dirichlet, rel=6e-3)
    assert np.asarray(essential.exact_values) == pytest.approx(dirichlet, rel=6e-3)
    assert np.asarray(essential.coexact_values) == pytest.approx(neumann, rel=4e-3)


def test_maxwell_cavity_has_no_spurious_values():
    """1, 1, 2, 4, 4, 5, 5, 8, 9, 9 on [0, pi]^2, on right triangles; order two."""
    right = np.array([1, 1, 2, 4, 4, 5, 5, 8, 9, 9])
    errors = []
    for n in (12, 24):
        modes = hodge.eigen(hodge.build(meshes.square(n, side=np.pi), relative="boundary"), 1, 10)
        errors.append(np.abs(np.asarray(modes.coexact_values) / right - 1).max())
    assert abs(order(errors) - 2) < 0.15


def test_maxwell_modes_of_the_cube():
    modes = hodge.eigen(hodge.build(meshes.cube(5, side=np.pi), relative="boundary"), 1, 5)
    assert np.asarray(modes.coexact_values) == pytest.approx([2, 2, 2, 3, 3], rel=0.04)


def test_l_shape_has_order_four_thirds():
    right = np.array([1.475621824, 3.534031367, 9.869604401, 9.869604401, 11.389479398])
    found = [
        np.asarray(hodge.eigen(hodge.build(meshes.lshape(n), relative="boundary"), 1, 5).coexact_values)
        for n in (8, 16, 32)
    ]
    errors = np.abs(np.array(found) / right - 1)
    assert abs(order(errors[:, 0]) - 4 / 3) < 0.15
    assert np.all(errors[-1][1:] < 3e-3)
    scalar = hodge.eigen(hodge.build(meshes.lshape(16)), 0, 1).coexact_values[0]
    assert float(scalar) == pytest.approx(1.48508, abs=6e-6)


def test_ellipsoid_two_forms_have_the_right_spectrum():
    """A barycentric diagonal star would stay at 4.780, 5.757, 6.546 on the 10:5:3 ellipsoid."""
    mesh = meshes.icosphere(3)
    values = _values(meshes.Mesh(mesh.points * [1.0, 0.5, 0.3], mesh.cells), 2, 3)[1]
    assert values == pytest.approx([3.142, 8.294, 9.151], rel=0.04)


def test_truncated_modes_keep_d_d_zero_and_are_orthonormal():
    complex_ = built("ball")
    for degree in (2,):
        modes = hodge.eigen(complex_, degree, 6)
        every = jnp.concatenate([modes.harmonic, modes.exact, modes.coexact], axis=1)
        gram = every.T @ (complex_.mass[degree] @ every)
        assert float(jnp.abs(gram - jnp.eye(len(gram))).max()) < 1e-9
        assert float(jnp.abs(hodge.d(complex_, modes.exact, degree)).max()) < 1e-11
        left = hodge.laplacian(complex_, modes.coexact[:, 0], degree) - modes.coexact_values[0] * modes.coexact[:, 0]
        assert float(hodge.norm(complex_, left, degree)) < 1e-7 * float(modes.coexact_values[0])
    few = hodge.eigen(hodge.build(meshes.Mesh(CROSS, FOUR)), 0, 100)
    assert few.coexact.shape[1] == 4


# gradients in the shape


@pytest.mark.parametrize("name", ["torus", "ball", "square"])
def test_shape_gradient_of_an_energy(name):
    complex_ = built(name)
    values, turn = noise(complex_, 1), jnp.asarray(np.random.default_rng(3).normal(size=complex_.points.shape))
    energy = lambda t: hodge.dirichlet_energy(hodge.measured(complex_, complex_.points + t * turn), values, 1)  # noqa: E731
    assert float(jax.grad(energy)(0.0)) == pytest.approx(float((energy(1e-6) - energy(-1e-6)) / 2e-6), rel=1e-5)


def test_gradient_of_a_harmonic_energy_and_of_a_cluster():
    """Stretching the flat torus by s along one period: energies s and 1 / s; the cluster |k|^2 = 1 moves by -1."""
    complex_ = hodge.build(meshes.flat_torus(6))
    found = hodge.cohomology(complex_)
    step = complex_.points[complex_.simplices[1][:, 1]] - complex_.points[complex_.simplices[1][:, 0]]
    period = 2 * jnp.pi
    step = step - period * jnp.round(step / period)

    def energy(s):
        other = hodge.measured_by_lengths(complex_, jnp.linalg.norm(step * jnp.array([s, 1.0]), axis=1))
        basis = coclosed(other, found, found.cocycles.T, 1)
        return jnp.sort(jnp.linalg.eigvalsh(basis.T @ (other.mass[1] @ basis)))

    values = energy(1.3)
    slope = [jax.grad(lambda s, i=i: energy(s)[i])(1.3) for i in range(2)]
    assert jnp.prod(values) == pytest.approx(1.0, rel=1e-10)
    assert float(slope[0] * values[1] + slope[1] * values[0]) == pytest.approx(0.0, abs=1e-10)
    stretched = lambda s: hodge.measured_by_lengths(complex_, jnp.linalg.norm(step * jnp.array([s, 1.0]), axis=1))  # noqa: E731
    modes = hodge.eigen(complex_, 0, 4, found=found)
    slope = jax.grad(lambda s: hodge.cluster_mean(stretched(s), modes.coexact, 0))(1.0)
    ends = [float(hodge.eigen(stretched(s), 0, 4, found=found).coexact_values.mean()) for s in (1 - 1e-4, 1 + 1e-4)]
    assert float(slope) == pytest.approx((ends[1] - ends[0]) / 2e-4, rel=1e-5)


# the diagonal star, mixed conditions, five parts


def test_circumcentric_stars_say_where_they_are_no_inner_product():
    with pytest.warns(UserWarning, match="16 zero of degree 1"):
        made = circumcentric(hodge.build(meshes.square(4)))
    one = jnp.ones(made.count(0))
    assert float(hodge.inner(made, one, one, 0)) == pytest.approx(1.0)
    sphere = hodge.build(meshes.icosphere(2))
    stars = circumcentric(sphere)
    assert jnp.allclose(stars.stiffness[0].value, sphere.stiffness[0].value, atol=1e-13)
    with pytest.warns(UserWarning, match="negative of degree 2"):
        ball = circumcentric(hodge.build(meshes.ball(3)))
    with pytest.raises(ValueError, match="not positive definite"):
        hodge.decompose(ball, noise(ball, 1), 1)
    assert float(hodge.inner(ball, *(jnp.ones(ball.count(0)),) * 2, 0)) == pytest.approx(
        meshes.check(meshes.ball(3)).volume
    )


def test_mixed_conditions_by_a_named_side():
    mesh = meshes.annulus(4)
    for side in ("inner", "outer"):
        complex_ = hodge.build(mesh, relative=side)
        assert (
            [hodge.harmonic_basis(complex_, p).shape[1] for p in range(3)]
            == [0, 0, 0]
            == list(meshes.betti(mesh, side))
        )
        values = noise(complex_, 1)
        assert quality(complex_, values, hodge.decompose(complex_, values, 1), 1)["reconstruction"] < 1e-12
    ramp = hodge.solve(hodge.build(meshes.interval(16), relative="left"), jnp.ones(17)).values
    assert ramp == pytest.approx(np.linspace(0, 1, 17) - np.linspace(0, 1, 17) ** 2 / 2, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "degree"), [("annulus", 1), ("annulus", 0), ("annulus", 2), ("shell", 1), ("shell", 2)]
)
def test_five_parts_are_orthogonal(name, degree):
    absolute, relative = built(name), built(name, "boundary")
    values = noise(absolute, degree)
    parts = hodge.decompose_five(absolute, relative, values, degree)
    stacked = jnp.stack(list(parts), axis=1)
    gram = np.asarray(stacked.T @ (absolute.mass[degree] @ stacked))
    size = float(hodge.norm(absolute, values, degree))
    assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12 * size**2
    assert float(hodge.norm(absolute, values - stacked.sum(axis=1), degree)) < 1e-12 * size
    with pytest.raises(ValueError, match="both relative"):
        hodge.decompose_five(relative, relative, values, degree)


def test_five_parts_are_refused_where_they_are_not_direct():
    mesh = meshes.torus(6, around=8)
    open_ = meshes.Mesh(mesh.points, mesh.cells[2:])
    open_ = meshes.repair(open_).mesh
    whole = hodge.build(open_)
    with pytest.raises(ValueError, match="around a handle"):
        hodge.decompose_five(whole, hodge.build(open_, relative="boundary"), noise(whole, 1), 1)


def test_laplacian_is_symmetric_and_knows_harmonic_forms():
    complex_ = built("annulus")
    operator = laplacian_operator(complex_, 1)
    u, w = noise(complex_, 1), noise(complex_, 1, 1)
    assert float(u @ operator.mv(w)) == pytest.approx(float(w @ operator.mv(u)), rel=1e-9)
    basis = hodge.harmonic_basis(complex_, 1)[:, 0]
    assert float(jnp.abs(operator.mv(basis)).max()) < 1e-10 * float(jnp.abs(operator.mv(u)).max())


def test_a_second_mesh_of_the_same_shape_compiles_nothing():
    a, b = hodge.build(meshes.torus(5)), hodge.build(meshes.torus(5, around=12, minor=0.3))
    hodge.decompose(a, noise(a, 1), 1)
    with jax.log_compiles():
        seen = []
        handler = logging.Handler()
        handler.emit = lambda record: seen.append(record.getMessage())
        logging.getLogger("jax").addHandler(handler)
        hodge.decompose(b, noise(b, 1), 1)
        logging.getLogger("jax").removeHandler(handler)
    assert not [message for message in seen if "decompose" in message and "Compiling" in message]


# what is refused, and the command line


def test_bad_input_is_one_sentence():
    complex_ = built("annulus")
    for call, said in (
        (lambda: hodge.decompose(complex_, jnp.ones(7), 1), "expected 280 values"),
        (lambda: hodge.decompose(complex_, jnp.ones(112), 1), "size of degree 0"),
        (lambda: hodge.decompose(complex_, jnp.ones(280).at[3].set(jnp.nan), 1), "not finite"),
        (lambda: hodge.decompose(complex_, jnp.ones(280), 4), "degree=4"),
        (lambda: hodge.eigen(complex_, 1, 0), "count=0"),
        (lambda: hodge.build(shape("annulus"), relative="top"), "group of the mesh: inner, outer"),
        (lambda: hodge.build(meshes.Mesh([[0, 0], [1, 0], [2, 0]], [[0, 1, 2]])), "flat cells"),
        (lambda: hodge.build(meshes.Mesh([[0, 0], [1, 0], [2, 1]], [[0, 1, 1]])), "repeats a vertex"),
    ):
        with pytest.raises(ValueError, match=said):
            call()


def test_decompose_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mesh = shape("annulus.msh")
    made = meshes.tables(mesh)
    edge = mesh.points[made.simplices[1]]
    middle, along = edge.mean(axis=1), edge[:, 1] - edge[:, 0]
    flow = np.stack([-middle[:, 1], middle[:, 0]], axis=1) / np.sum(middle**2, axis=1, keepdims=True)
    np.save("flow.npy", np.sum(flow * along, axis=1))
    assert main(["decompose", str(DATA / "annulus.msh"), "--cochain", "flow.npy", "--out", "parts.npz", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["harmonic_dimension"] == 1 and found["orthogonality"] < 1e-12 and found["reconstruction"] < 1e-12
    assert found["norms"]["harmonic"] > 10 * found["norms"]["exact"]
    held = np.load("parts.npz")
    assert np.allclose(held["exact"] + held["coexact"] + held["harmonic"], np.load("flow.npy"), atol=1e-12)
    assert Path("runs/annulus-parts.png").stat().st_size > 10_000
    np.save("short.npy", np.ones(5))
    np.savez("many.npz", a=np.ones(3))
    (tmp_path / "text.npy").write_text("hello")
    for arguments, said in (
        (["--cochain", "short.npy"], "got a cochain of 5 values"),
        (["--cochain", "none.npy"], "does not load"),
        (["--cochain", "text.npy"], "does not load"),
        (["--cochain", "many.npz"], "expected a .npy array"),
        ([], "got no --cochain"),
        (["--cochain", "flow.npy", "--out", "a.txt"], "ends in .npz"),
        (["--cochain", "flow.npy", "--boundary", "open"], "could not read"),
    ):
        assert main(["decompose", str(DATA / "annulus.msh"), *arguments]) == 3
        assert said in capsys.readouterr().err
