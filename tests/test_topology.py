"""Betti numbers against dense exact ranks and against invariance; tables against their definition."""

import itertools
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import meshes
from meshes.mesh import Mesh
from meshes.shapes import ALL, TOPOLOGIES
from meshes.tables import cofacets, find, tables, within
from meshes.topology import betti_of


def boundary_matrix(made, degree):
    """The signed incidence matrix of a degree, in integers."""
    matrix = np.zeros((len(made.simplices[degree - 1]), len(made.simplices[degree])), np.int64)
    for row, facets in enumerate(made.facets[degree]):
        for i, facet in enumerate(facets):
            matrix[facet, row] += (-1) ** i
    return matrix


def exact_rank(matrix, prime=None):
    """Rank by elimination in fractions, or modulo a prime."""
    rows = [[Fraction(int(v)) if prime is None else int(v) % prime for v in row] for row in matrix]
    rank = 0
    for column in range(matrix.shape[1] if len(rows) else 0):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        lead = rows[rank][column]
        for r in range(rank + 1, len(rows)):
            if rows[r][column]:
                factor = rows[r][column] / lead if prime is None else rows[r][column] * pow(lead, -1, prime)
                rows[r] = [
                    a - factor * b if prime is None else (a - factor * b) % prime
                    for a, b in zip(rows[r], rows[rank], strict=True)
                ]
        rank += 1
    return rank


def dense_betti(made, gone, prime=None):
    """Betti numbers from the ranks of the boundary matrices without the rows and columns of a subcomplex."""
    keep = [~g for g in gone]
    ranks = (
        [0]
        + [exact_rank(boundary_matrix(made, j)[keep[j - 1]][:, keep[j]], prime) for j in range(1, made.degree + 1)]
        + [0]
    )
    return tuple(int(keep[j].sum()) - ranks[j] - ranks[j + 1] for j in range(made.degree + 1))


def rows_of(width):
    """Cells on up to eight vertices, each in any order; and which simplices of which degree are a part."""
    cell = st.permutations(range(8)).map(lambda order: tuple(order[:width]))
    cells = st.lists(cell, min_size=1, max_size=14, unique_by=lambda c: tuple(sorted(c)))
    return st.tuples(cells, st.integers(0, width - 2), st.lists(st.integers(0, 99), max_size=6, unique=True))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([2, 3, 3, 4, 4]).flatmap(rows_of), st.sampled_from([None, 2, 3]))
def test_betti_equals_dense_exact_ranks(drawn, prime):
    cells, level, chosen = drawn
    made = tables(Mesh(np.arange(24.0).reshape(8, 3) ** 2, cells))
    simplices = made.simplices[level]
    for part in (simplices[:0], simplices[[c for c in chosen if c < len(simplices)]]):
        gone = within(made, part, "part")
        found = betti_of(made, gone) if prime is None else betti_of(made, gone, prime)
        assert found == dense_betti(made, gone, prime)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(ALL)), st.integers(0, 2**32 - 1))
def test_betti_does_not_mind_labels_order_or_winding(name, seed):
    rng = np.random.default_rng(seed)
    mesh = ALL[name]({"icosphere": 1, "disk_with_holes": 10}.get(name, 3))
    label = rng.permutation(len(mesh.points))
    cells = rng.permuted(label[mesh.cells], axis=1)[rng.permutation(len(mesh.cells))]
    shuffled = Mesh(mesh.points[np.argsort(label)], cells) if mesh.lengths is None else None
    if shuffled is None:
        return
    assert meshes.betti(shuffled) == TOPOLOGIES[name].betti
    assert meshes.betti(shuffled, "boundary") == TOPOLOGIES[name].relative
    report = meshes.check(shuffled)
    assert report.orientable == TOPOLOGIES[name].orientable
    assert report.euler == meshes.check(mesh).euler


@pytest.mark.parametrize("name", ["torus", "cube", "interval", "klein", "ball"])
def test_boundary_of_a_boundary_vanishes_in_integers(name):
    made = tables(ALL[name](3))
    for j in range(2, made.degree + 1):
        product = boundary_matrix(made, j - 1) @ boundary_matrix(made, j)
        assert product.dtype.kind == "i" and not product.any()


def test_tables_hold_each_simplex_once_in_order():
    mesh = meshes.ball(2)
    made = tables(mesh)
    for j, simplices in enumerate(made.simplices):
        right = np.array(
            sorted({t for c in np.sort(mesh.cells, axis=1).tolist() for t in itertools.combinations(c, j + 1)})
        )
        assert np.array_equal(simplices, right)
        if j:
            for i in range(j + 1):
                assert np.array_equal(made.simplices[j - 1][made.facets[j][:, i]], np.delete(simplices, i, axis=1))
    assert np.array_equal(np.sort(mesh.cells, axis=1), made.simplices[3][made.cell])
    permutation = np.argsort(mesh.cells, axis=1)
    parity = np.linalg.det(np.eye(4)[permutation])
    assert np.array_equal(np.round(parity).astype(int), made.sign)
    assert np.array_equal(find(made.simplices[2], made.simplices[2][::-1]), np.arange(len(made.simplices[2]))[::-1])
    assert find(made.simplices[1], np.array([[0, 0]])).tolist() == [-1]


def test_boundary_of_consistent_cells_is_a_cycle():
    for mesh in (meshes.cube(2), meshes.disk(3), meshes.shell(1)):
        rows = meshes.boundary(mesh)
        skin = Mesh(mesh.points, rows)
        assert not meshes.check(skin).defects["inconsistent_facets"].count
        made = tables(skin)
        assert set(cofacets(made)) <= {0, 2}
    ball = meshes.check(meshes.repair(Mesh(meshes.ball(2).points, meshes.boundary(meshes.ball(2)))).mesh)
    assert ball.orientation == "outward" and ball.betti == (1, 0, 1)


def test_small_complexes_of_the_table():
    mobius = Mesh(np.eye(5)[:, :3] + np.arange(5.0)[:, None], [[i, (i + 1) % 5, (i + 2) % 5] for i in range(5)])
    assert meshes.betti(mobius) == (1, 1, 0)
    assert meshes.check(mobius).boundary_loops == 1 and not meshes.check(mobius).orientable
    points = np.random.default_rng(0).normal(size=(5, 3))
    for cells in ([[0, 1, 2], [2, 3, 4]], [[0, 1, 2], [0, 1, 3], [0, 1, 4]]):
        mesh = Mesh(points, cells)
        assert meshes.betti(mesh) == (1, 0, 0)
        report = meshes.check(mesh)
        assert report.genus is None and "not a surface" in report.reasons["genus"]
    graph = Mesh(points, [[0, 1], [1, 2], [2, 0], [3, 4]])
    assert meshes.betti(graph) == (2, 1)


def test_parts_by_group_rows_and_name():
    mesh = meshes.annulus(3)
    assert meshes.betti(mesh, "inner") == (0, 0, 0)
    assert meshes.betti(mesh, "boundary") == (0, 1, 1)
    assert meshes.betti(mesh, np.concatenate([mesh.groups["inner"], mesh.groups["outer"]])) == (0, 1, 1)
    with pytest.raises(ValueError, match="expected 'boundary' or a group of the mesh: inner, outer"):
        meshes.betti(mesh, "outside")
    with pytest.raises(ValueError, match="expected simplices of the mesh"):
        meshes.betti(mesh, np.array([[0, 40]]))
    with pytest.raises(ValueError, match="expected a prime"):
        meshes.betti(mesh, prime=6)


def test_many_cavities_and_tunnels():
    cavity = meshes.cube(5)
    middle = cavity.points[cavity.cells].mean(axis=1)
    inside = np.floor(middle * 5).astype(int)
    block = np.all((inside % 2 == 1), axis=1)
    assert meshes.betti(Mesh(cavity.points, cavity.cells[~block])) == (1, 0, 8, 0)
    bars = np.all(inside[:, :2] % 2 == 1, axis=1)
    pierced = meshes.repair(Mesh(cavity.points, cavity.cells[~bars])).mesh
    assert meshes.betti(pierced) == (1, 4, 0, 0)
    assert meshes.betti(pierced, "boundary") == (0, 0, 4, 1)


@pytest.mark.parametrize("name", ["sphere", "torus", "genus", "klein", "projective_plane"])
def test_angle_defects_sum_to_the_euler_number(name):
    """Gauss-Bonnet for polyhedra (Descartes): the defects 2 pi - sum of angles add up to 2 pi chi."""
    mesh = ALL[name](4)
    corner = mesh.points[mesh.cells]
    total = 0.0
    for i in range(3):
        u, v = corner[:, (i + 1) % 3] - corner[:, i], corner[:, (i + 2) % 3] - corner[:, i]
        cosine = np.einsum("ij,ij->i", u, v) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        total += np.arccos(cosine).sum()
    assert 2 * np.pi * len(mesh.points) - total == pytest.approx(2 * np.pi * meshes.check(mesh).euler, abs=1e-9)
