"""Every generator: its topology in exact integers at three resolutions, its size at second order, its layouts."""

import functools
import inspect

import numpy as np
import pytest

import meshes
from meshes.refine import sweep
from meshes.shapes import ALL, TOPOLOGIES

RESOLUTIONS = {"icosphere": (1, 2, 3), "disk_with_holes": (10, 15, 22), "shell": (1, 2, 4), "solid_torus": (1, 2, 4)}
PLANE = ("square", "disk", "annulus", "lshape", "disk_with_holes")
UNORIENTABLE = {name for name, topology in TOPOLOGIES.items() if not topology.orientable}


@functools.cache
def made(name):
    """Meshes at three resolutions, with their reports."""
    grown = [ALL[name](r) for r in RESOLUTIONS.get(name, (3, 5, 8))]
    return [(mesh, meshes.check(mesh)) for mesh in grown]


@pytest.mark.parametrize("name", ALL)
def test_topology_is_exact_at_three_resolutions(name):
    right = TOPOLOGIES[name]
    for mesh, report in made(name):
        assert report.betti == meshes.betti(mesh) == right.betti
        assert report.betti_relative == meshes.betti(mesh, "boundary") == right.relative
        assert meshes.betti(mesh, prime=2) == (right.gf2 or right.betti)
        assert report.orientable == right.orientable
        assert report.euler == sum((-1) ** j * b for j, b in enumerate(right.betti))


@pytest.mark.parametrize("name", ALL)
def test_meshes_are_sound_and_turned_the_right_way(name):
    for _, report in made(name):
        found = {n for n, d in report.defects.items() if d.count} - {"negative_duals"}
        assert found == ({"non_orientable_patches"} if name in UNORIENTABLE else set())
        assert report.worst_quality > 0.3
        if name not in UNORIENTABLE:
            assert report.orientation in ("counter-clockwise", "positive", "outward", "consistent")


@pytest.mark.parametrize("name", [n for n, t in TOPOLOGIES.items() if t.measure is not None])
def test_size_converges_at_second_order(name):
    right = TOPOLOGIES[name].measure
    errors, sizes = [], []
    for mesh, report in made(name):
        size = (report.length, report.area, report.volume)[mesh.degree - 1]
        errors.append(abs(size / right - 1))
        sizes.append(len(mesh.cells) ** (1 / mesh.degree))
    if max(errors) > 1e-12:
        order = np.log(errors[0] / errors[-1]) / np.log(sizes[-1] / sizes[0])
        assert 1.7 < order < 2.6


@pytest.mark.parametrize("name", [n for n in ALL if "layout" in inspect.signature(ALL[n]).parameters])
def test_jitter_keeps_topology_and_moves_points(name):
    resolution = RESOLUTIONS.get(name, (3, 4))[1]
    if name in ("genus", "disk_with_holes"):
        with pytest.raises(ValueError, match=r"expected Structured|expected Delaunay"):
            ALL[name](resolution, layout=meshes.Jittered())
        return
    plain, moved = ALL[name](resolution), ALL[name](resolution, layout=meshes.Jittered(0.25, seed=3))
    assert np.abs(plain.points - moved.points).max() > 1e-3
    assert np.array_equal(moved.points, ALL[name](resolution, layout=meshes.Jittered(0.25, seed=3)).points)
    report = meshes.check(moved)
    assert report.betti == TOPOLOGIES[name].betti
    assert not report.defects["inverted_cells"].count
    assert report.worst_quality > 0.03


@pytest.mark.parametrize("name", PLANE)
@pytest.mark.parametrize("seed", range(4))
def test_delaunay_layout(name, seed):
    mesh = ALL[name](12, layout=meshes.Delaunay(seed))
    report = meshes.check(mesh)
    assert report.betti == TOPOLOGIES[name].betti
    assert report.ok
    assert report.orientation == "counter-clockwise"
    interior = report.defects["negative_duals"].where
    outer = {tuple(sorted(e)) for e in meshes.boundary(mesh).tolist()}
    assert all(tuple(e) in outer for e in interior.tolist())


def test_delaunay_is_refused_off_the_plane():
    for name in ("cube", "torus", "sphere", "mobius"):
        with pytest.raises(ValueError, match="expected Structured or Jittered"):
            ALL[name](4, layout=meshes.Delaunay())


@pytest.mark.parametrize("holes", [0, 1, 2, 5])
def test_genus_and_holes_count(holes):
    assert meshes.betti(meshes.genus(1, holes=holes)) == (1, 2 * holes, 1)
    assert meshes.check(meshes.genus(2, holes=holes)).genus == holes
    mesh = meshes.disk_with_holes(24, holes=holes)
    assert meshes.betti(mesh) == (1, holes, 0)
    assert meshes.check(mesh).boundary_loops == holes + 1
    assert set(mesh.groups) == {"outer", *(f"hole{i}" for i in range(holes))}


def test_closed_forms_of_counts():
    n = 5
    assert len(meshes.sphere(n).points) == 10 * n**2 + 2
    assert len(meshes.icosphere(3).points) == 10 * 4**3 + 2
    assert len(meshes.disk(n).points) == 1 + 3 * n * (n + 1)
    assert meshes.cube(n).cells.shape == (6 * n**3, 4)
    assert meshes.ball(n).cells.shape == (20 * n**3, 4)
    plane = meshes.projective_plane()
    assert (len(plane.points), len(plane.cells)) == (6, 10)
    assert np.allclose(np.linalg.norm(meshes.icosphere(2).points, axis=1), 1, atol=1e-15)


def test_sides_are_named_and_cover_the_boundary():
    for mesh in (meshes.square(4, side=2.0), meshes.cube(3), meshes.annulus(3), meshes.shell(2), meshes.interval(4)):
        rows = np.concatenate([np.sort(r, axis=1) for r in mesh.groups.values()])
        expected = np.sort(meshes.boundary(mesh), axis=1)
        assert np.array_equal(np.unique(rows, axis=0), np.unique(expected, axis=0))
        assert len(rows) == len(expected)
    lower = meshes.square(4, side=2.0).groups["lower"]
    assert np.all(meshes.square(4, side=2.0).points[lower, 1] == 0)


def test_flat_torus_is_measured_by_its_lengths():
    report = meshes.check(meshes.flat_torus(6, periods=(2.0, 3.0)))
    assert report.area == pytest.approx(6.0, rel=1e-14)
    assert report.orientation == "consistent"
    assert report.signed_volume is None and "signed_volume" in report.reasons


@pytest.mark.parametrize("mesh", [meshes.square(2), meshes.cube(1), meshes.interval(3), meshes.torus(3)], ids=str)
def test_refining_keeps_measure_topology_and_groups(mesh):
    fine = meshes.refine(mesh, 3)
    assert len(fine.cells) == len(mesh.cells) * 3**mesh.degree
    a, b = meshes.check(mesh), meshes.check(fine)
    assert a.betti == b.betti and a.orientation == b.orientation
    for name in ("length", "area", "volume"):
        assert getattr(b, name) == pytest.approx(getattr(a, name), rel=1e-12) if getattr(a, name) else True
    assert not b.defects["stray_group_rows"].count
    for name, rows in mesh.groups.items():
        assert len(fine.groups[name]) == len(rows) * 3 ** (rows.shape[1] - 1)


def test_products_multiply_topology():
    """Kunneth: a factor interval keeps the Betti numbers, a factor circle multiplies their series by 1 + t."""
    ring = meshes.Mesh(np.arange(5.0)[:, None], np.stack([np.arange(5), (np.arange(5) + 1) % 5], axis=1))
    assert meshes.betti(sweep(ring, 2)) == (1, 1, 0)
    torus = sweep(ring, 4, np.arange(5))
    assert meshes.betti(torus) == (1, 2, 1)
    assert meshes.betti(sweep(torus, 3, np.arange(len(torus.points)))) == (1, 3, 3, 1)
    sphere = meshes.sphere(1)
    assert meshes.betti(sweep(sphere, 3, np.arange(12))) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: meshes.square(0), "resolution=0"),
        (lambda: meshes.square(True), "resolution=True"),
        (lambda: meshes.disk(3, radius=float("nan")), "radius=nan"),
        (lambda: meshes.annulus(3, inner=2.0, outer=1.0), "expected inner below outer"),
        (lambda: meshes.shell(3, inner=0.0), "0 < inner < outer"),
        (lambda: meshes.torus(8, minor=2.0), "0 < minor < major"),
        (lambda: meshes.torus(2), "resolution=2"),
        (lambda: meshes.mobius(3, width=5.0), "width=5.0"),
        (lambda: meshes.interval(3, start=1.0, stop=1.0), "start below stop"),
        (lambda: meshes.flat_torus(4, periods=(1.0, -1.0)), "two positive"),
        (lambda: meshes.disk_with_holes(3), "expected at least"),
        (lambda: meshes.disk_with_holes(20, radius=0.6), "holes fit"),
        (lambda: meshes.Jittered(0.9), "amount=0.9"),
        (lambda: meshes.refine(meshes.square(1), 0), "pieces=0"),
        (lambda: meshes.refine(meshes.flat_torus(3), 2), "edge lengths"),
    ],
)
def test_bad_parameters_are_one_sentence(call, text):
    with pytest.raises(ValueError, match=text) as error:
        call()
    assert "\n" not in str(error.value)
