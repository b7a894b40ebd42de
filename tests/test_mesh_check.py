"""Checking, turning, welding and repairing: reported cases with their right answers, and laws."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meshes
from meshes.check import summary
from meshes.geometry import cell_measures, dual_lengths, edge_lengths, measures, quality
from meshes.layout import arrange
from meshes.tables import tables
from sciml.__main__ import main

DATA = Path(__file__).parent / "data"
CROSS = np.array([[0.0, 0], [1, 0], [0.5, 0.5], [1, 1], [0, 1]])  # a unit square about its middle
FOUR = np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2]])
CUBE = np.array([[2.0, 2, 2], [2, 2, 0], [2, 0, 2], [2, 0, 0], [0, 2, 2], [0, 2, 0], [0, 0, 2], [0, 0, 0]])
SIDES = np.array(
    [
        *([4, 2, 0], [2, 7, 3], [6, 5, 7], [1, 7, 5], [0, 3, 1], [4, 1, 5]),
        *([4, 6, 2], [2, 6, 7], [6, 4, 5], [1, 3, 7], [0, 2, 3], [4, 0, 1]),
    ]
)


def counts(report):
    return {name: d.count for name, d in report.defects.items() if d.count}


def test_orientation_of_edge_data():
    """TopoNetX issues 358 and 167: flow 10 along (2, 1) is -10 on (1, 2); even listings of a face keep its sign."""
    edge = tables(meshes.Mesh(np.arange(3.0)[:, None], [[2, 1]]))
    flow = np.zeros(1)
    flow[edge.cell] = edge.sign * 10.0
    assert edge.simplices[1].tolist() == [[1, 2]] and flow.tolist() == [-10.0]
    inflow = np.zeros(3)
    np.add.at(inflow, edge.simplices[1][:, 1], flow)
    np.subtract.at(inflow, edge.simplices[1][:, 0], flow)
    assert inflow.tolist() == [0.0, 10.0, -10.0]
    assert (edge.sign * flow[edge.cell]).tolist() == [10.0]
    points = np.eye(4)[:, :3]
    for order in itertools.permutations((1, 2, 3)):
        made = tables(meshes.Mesh(points, [order]))
        assert made.sign[0] == round(np.linalg.det(np.eye(3)[np.array(order) - 1]))
    assert (
        tables(meshes.Mesh(points, [(3, 1, 2)])).sign[0] == 1 and tables(meshes.Mesh(points, [(2, 1, 3)])).sign[0] == -1
    )


def test_mirrored_cube_is_inside_out():
    """ncollpyde issue 8, trimesh pull request 894."""
    right = meshes.check(meshes.Mesh(CUBE, SIDES))
    assert (right.signed_volume, right.area, right.betti, right.euler) == (8.0, 24.0, (1, 0, 1), 2)
    assert right.orientation == "outward" and right.ok
    mirrored = meshes.Mesh(CUBE * [1, -1, 1], SIDES)
    report = meshes.check(mirrored)
    assert (report.signed_volume, report.area, report.betti) == (-8.0, 24.0, (1, 0, 1))
    assert report.orientation == "inside out" and counts(report) == {"inside_out": 1}
    turned = meshes.orient(mirrored)
    assert meshes.check(turned.mesh).signed_volume == 8.0 and len(turned.changes["turned_cells"]) == 12


TETS = [
    ([[1, 1, -10], [0, 0, 0], [0, 10, 0], [4, 6, 0]], -66.666667),
    (
        [
            *([-0.1275, -0.12517408, -0.107], [-0.13992335, -0.13254333, -0.107]),
            *([-0.14015945, -0.115, -0.11670727], [-0.14048467, -0.12287681, -0.107]),
        ],
        -2.009843e-07,
    ),
    (
        [
            *([-0.0350807, 0.00516588, -0.0571602], [-0.0367887, 0.00678192, -0.0559037]),
            *([-0.0338311, 0.00778059, -0.0576155], [0.0260922, 0.00804063, 0.0647749]),
        ],
        -1.724162e-07,
    ),
]


@pytest.mark.parametrize(("points", "volume"), TETS)
def test_tetrahedra_listed_the_wrong_way_round(points, volume):
    """meshzoo issue 68, Kratos 121, GEOS 2154, libMesh 2359: the sign is reported, small is not degenerate."""
    mesh = meshes.Mesh(points, [[0, 1, 2, 3]])
    report = meshes.check(mesh)
    assert report.signed_volume == pytest.approx(volume, rel=1e-6) and report.volume == -report.signed_volume
    assert report.orientation == "inside out" and report.cell_orientation.tolist() == [-1]
    assert not report.defects["flat_cells"].count
    shape = quality(mesh.points, mesh.cells)[0]
    assert report.defects["needle_cells"].count == (abs(shape) < 0.01)
    turned = meshes.orient(mesh).mesh
    assert meshes.check(turned).signed_volume == pytest.approx(-volume, rel=1e-6)
    assert meshes.betti(turned) == meshes.betti(mesh) == (1, 0, 0, 0)


def test_sliver_and_cube_of_five():
    assert quality(np.array(TETS[2][0]), np.array([[0, 1, 2, 3]]))[0] == pytest.approx(-0.0016, abs=5e-5)
    points = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    mesh = meshes.Mesh(points, [[0, 1, 2, 4], [3, 1, 7, 2], [5, 1, 4, 7], [6, 2, 7, 4], [1, 2, 4, 7]])
    assert cell_measures(mesh) == pytest.approx([-1 / 6] * 4 + [-1 / 3])
    report = meshes.check(mesh)
    assert report.signed_volume == pytest.approx(-1) and report.defects["inverted_cells"].where.tolist() == [
        0,
        1,
        2,
        3,
        4,
    ]
    assert meshes.check(meshes.orient(mesh).mesh).signed_volume == pytest.approx(1)


def test_mixed_winding_in_the_plane():
    """scikit-fem issue 72, FerriteGmsh issue 15: areas +0.5 and -0.5, then both +0.5."""
    mesh = meshes.Mesh([[0, 1], [1, 1], [0, 0], [1, 0]], [[0, 2, 3], [0, 1, 3]])
    assert cell_measures(mesh).tolist() == [0.5, -0.5]
    report = meshes.check(mesh)
    assert report.orientation == "mixed" and report.signed_area == 0.0 and report.area == 1.0
    assert counts(report) == {"inconsistent_facets": 1, "inverted_cells": 1}
    turned = meshes.orient(mesh)
    assert cell_measures(turned.mesh).tolist() == [0.5, 0.5] and turned.changes["turned_cells"].tolist() == [1]
    assert np.array_equal(tables(turned.mesh).simplices[2], tables(mesh).simplices[2])
    squares = meshes.orient(meshes.read(DATA / "oriented_squares.msh"))
    assert len(squares.changes["turned_cells"]) == 250
    assert meshes.check(squares.mesh).signed_area == pytest.approx(1.0)
    assert meshes.check(squares.mesh).orientation == "counter-clockwise"


def test_loose_vertices_and_parts():
    """robust-laplacians issue 1, libigl 817, geometry-central 36."""
    points = np.concatenate([CROSS, [[9.0, 9.0]], CROSS + 5])
    report = meshes.check(meshes.Mesh(points, np.concatenate([FOUR, FOUR + 6])))
    assert report.betti == (3, 0, 0) and report.components == 3
    assert report.defects["unreferenced_vertices"].where.tolist() == [5]
    assert report.genus is None and "in no triangle" in report.reasons["genus"]
    broken = meshes.Mesh(CROSS, np.concatenate([FOUR, [[0, 1, 1]]]))
    with pytest.raises(ValueError, match=r"cell 4 = .*repeats a vertex"):
        meshes.betti(broken)
    report = meshes.check(broken)
    assert report.defects["collapsed_cells"].where.tolist() == [4]
    assert report.betti is None and "repeat a vertex" in report.reasons["betti"]
    assert meshes.check(meshes.repair(broken).mesh).betti == (1, 0, 0)
    same_place = meshes.Mesh([[0, 0], [1, 0], [1, 0], [0, 1.0]], [[0, 1, 3], [0, 1, 2]])
    assert meshes.check(same_place).defects["flat_cells"].where.tolist() == [1]
    assert meshes.check(same_place).defects["duplicate_vertices"].where.tolist() == [2]


@pytest.mark.parametrize("name", ["fan3.obj", "hourglass_ico.obj", "shared.STL", "moebius.obj"])
def test_what_is_no_surface_has_topology_but_no_genus(name):
    """potpourri3d issue 18, trimesh issue 122."""
    report = meshes.check(meshes.read(DATA / name))
    assert report.betti is not None and report.genus is None
    said = {
        "fan3.obj": "edge [2, 4]",
        "hourglass_ico.obj": "at vertex",
        "shared.STL": "edge",
        "moebius.obj": "not orientable",
    }
    assert said[name] in report.reasons["genus"]
    if name == "moebius.obj":
        assert report.betti[2] == 0 and len(report.defects["non_orientable_patches"].where) == 1


def test_each_defect_is_counted_and_placed():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [0.5, 1e-9, 0.2], [5, 5, 5]])
    cells = np.array([[0, 1, 2], [2, 1, 3], [1, 0, 2], [3, 3, 1], [0, 1, 5]])
    report = meshes.check(meshes.Mesh(points, cells, {"loose": [[0, 6]]}))
    found = {name: d.where.tolist() for name, d in report.defects.items() if d.count}
    assert found["collapsed_cells"] == [3] and found["duplicate_cells"] == [2]
    assert found["duplicate_vertices"] == [4] and found["unreferenced_vertices"] == [4, 6]
    assert found["stray_group_rows"] == [[0, 6, -1, -1]]
    assert not report.ok


def test_a_mesh_of_broken_cells_alone_is_reported(tmp_path, monkeypatch):
    broken = meshes.Mesh(np.eye(3), [[0, 1, 1], [0, 0, 1]])
    report = meshes.check(broken)
    assert counts(report) == {"collapsed_cells": 2} and report.betti is None and not report.ok
    monkeypatch.chdir(tmp_path)
    Path("a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 1\nf 1 2 2\nf 1 1 2\n")
    assert main(["mesh", "a.obj"]) == 0
    with pytest.raises(ValueError, match=r"no cell is left|nothing is left"):
        meshes.repair(broken)


def test_non_manifold_tetrahedra():
    corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    touching = meshes.Mesh(np.concatenate([corner, -corner[1:]]), [[0, 1, 2, 3], [0, 4, 5, 6]])
    report = meshes.check(touching)
    assert report.defects["non_manifold_vertices"].where.tolist() == [0] and report.betti == (1, 0, 0, 0)
    book = meshes.Mesh(np.concatenate([corner, [[0, -1, 0], [0, 0, -1]]]), [[0, 1, 2, 3], [0, 1, 4, 5]])
    assert meshes.check(book).defects["non_manifold_edges"].where.tolist() == [[0, 1]]
    three = meshes.Mesh(np.concatenate([corner, [[1, 1, 1], [2, 2, 3]]]), [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]])
    assert meshes.check(three).defects["non_manifold_facets"].where.tolist() == [[0, 1, 2]]


def test_shell_wall_is_wound_inwards_and_a_nested_ball_is_not():
    outer, inner = meshes.sphere(2), meshes.sphere(2, radius=0.5)
    nested = meshes.Mesh(
        np.concatenate([outer.points, inner.points, inner.points + 3]),
        np.concatenate(
            [outer.cells, inner.cells + len(outer.points), inner.cells + len(outer.points) + len(inner.points)]
        ),
    )
    report = meshes.check(nested)
    assert report.defects["inside_out"].where.tolist() == [len(outer.cells)] and report.orientation == "inside out"
    turned = meshes.orient(nested)
    assert turned.changes["turned_cells"].tolist() == list(range(len(outer.cells), 2 * len(outer.cells)))
    assert meshes.check(turned.mesh).ok
    wall = meshes.Mesh(meshes.shell(2).points, meshes.boundary(meshes.shell(2)))
    assert not meshes.check(wall).defects["inside_out"].count


def test_duals_of_right_obtuse_and_regular_cells():
    assert not meshes.check(meshes.square(4)).defects["negative_duals"].count  # zero, not negative
    obtuse = meshes.Mesh([[0, 0], [1, 0], [0.5, 0.2], [0.5, -0.2]], [[0, 1, 2], [1, 0, 3]])
    assert meshes.check(obtuse).defects["negative_duals"].where.tolist() == [[0, 1]]
    made = tables(obtuse)
    cotangent = -(0.5**2 - 0.2**2) / (2 * 0.5 * 0.2)
    assert dual_lengths(obtuse, made)[0] * edge_lengths(obtuse, made).max() == pytest.approx(cotangent)
    corner = meshes.Mesh(np.eye(4)[:, :3], [[0, 1, 2, 3]])
    rim = np.sort(dual_lengths(corner, tables(corner)) * np.sqrt(2))
    assert rim == pytest.approx(
        [-0.5 / np.sqrt(3), 0.5, 0.5, 0.5]
    )  # the circumcentre (1, 1, 1) / 2 is beyond the slope


def test_weld_merges_and_drops_what_collapses():
    """libigl issue 1078: welding must drop faces that collapse."""
    points = [[0, 0], [1, 0], [0, 1], [1e-9, 0], [1, 1], [0, 0.0]]
    mesh = meshes.Mesh(points, [[0, 1, 2], [3, 1, 4], [0, 3, 5]], {"line": [[0, 3], [1, 4]]})
    exact = meshes.weld(mesh)
    assert exact.changes["merged_vertices"].tolist() == [5] and exact.changes["dropped_cells"].tolist() == [2]
    near = meshes.weld(mesh, tolerance=1e-6)
    assert near.changes["merged_vertices"].tolist() == [3, 5] and near.changes["dropped_cells"].tolist() == [2]
    assert near.mesh.groups["line"].tolist() == [[1, 3]] and len(near.mesh.points) == 4
    for bad in (-1.0, 0.5, float("nan")):
        with pytest.raises(ValueError, match=r"expected a number from 0 up to 0\.01"):
            meshes.weld(mesh, tolerance=bad)
    with pytest.raises(ValueError, match="edge lengths of its own"):
        meshes.weld(meshes.flat_torus(3))
    with pytest.raises(ValueError, match="no cell is left"):
        meshes.weld(meshes.Mesh([[0, 0], [0, 0], [0, 0.0]], [[0, 1, 2]]))


def spoilt(mesh, rng):
    """The mesh with cells turned, repeated, collapsed, loose vertices and split corners."""
    cells = rng.permuted(mesh.cells, axis=1)
    cells = np.concatenate([cells, cells[:3], np.repeat(cells[:1, :1], mesh.degree + 1, axis=1)])
    points = np.concatenate([mesh.points, rng.normal(size=(2, mesh.points.shape[1])), mesh.points[:2]])
    cells[5] = np.where(cells[5] == 0, len(mesh.points) + 2, cells[5])
    return meshes.Mesh(points, cells[rng.permutation(len(cells))])


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["torus", "square", "cube", "sphere", "shell", "annulus"]), st.integers(0, 2**32 - 1))
def test_repair_restores_and_is_idempotent(name, seed):
    good = getattr(meshes, name)({"shell": 1}.get(name, 3))
    bad = spoilt(good, np.random.default_rng(seed))
    found = meshes.repair(bad)
    a, b = meshes.check(good), meshes.check(found.mesh)
    assert (a.betti, a.euler, a.vertices, a.faces, a.tets) == (b.betti, b.euler, b.vertices, b.faces, b.tets)
    assert b.orientation == a.orientation and b.ok
    again = meshes.repair(found.mesh)
    assert not any(len(v) for v in again.changes.values())
    assert np.array_equal(again.mesh.cells, found.mesh.cells) and np.array_equal(again.mesh.points, found.mesh.points)
    kept = meshes.orient(meshes.repair(good).mesh)
    assert not len(kept.changes["turned_cells"])


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-6, 1e6, 1e150, 1e300])
def test_nothing_depends_on_the_unit(scale):
    """Defects are found by shape, never by an absolute size; sizes that overflow are null with a reason."""
    for grown in (meshes.torus(6), meshes.cube(2), meshes.square(3, layout=meshes.Jittered(0.3, seed=5))):
        plain = meshes.check(grown)
        report = meshes.check(meshes.Mesh(grown.points * scale, grown.cells))
        assert (
            counts(report) == counts(plain) and report.betti == plain.betti and report.orientation == plain.orientation
        )
        assert report.worst_quality == pytest.approx(plain.worst_quality, rel=1e-9)
        for name in ("area", "volume"):
            value = getattr(report, name)
            assert value is None or (np.isfinite(value) and value >= 0)
            if value is None and getattr(plain, name) is not None:
                assert "double precision" in report.reasons[name]
        json.dumps(summary(report), allow_nan=False)


def test_far_from_the_origin_flat_means_flat_to_rounding():
    points = np.array([[0.0, 0], [1, 0], [0, 1], [0.5, 0.5 + 1e-12]])
    near = meshes.check(meshes.Mesh(points, [[0, 1, 2], [1, 3, 2]]))
    assert near.defects["needle_cells"].where.tolist() == [1] and not near.defects["flat_cells"].count
    far = meshes.check(meshes.Mesh(points + 1e8, [[0, 1, 2], [1, 3, 2]]))
    assert far.defects["flat_cells"].where.tolist() == [1]


def test_measures_agree_in_every_form():
    rng = np.random.default_rng(3)
    for width in (2, 3, 4):
        points = rng.normal(size=(width, width - 1))
        cell = np.arange(width)[None]
        size = abs(measures(points, cell)[0])
        turn = np.linalg.qr(rng.normal(size=(5, 5)))[0][:, : width - 1]
        assert measures(points @ turn.T, cell)[0] == pytest.approx(size, rel=1e-12)
        lengths = [np.linalg.norm(points[i] - points[j]) for i, j in itertools.combinations(range(width), 2)]
        if width < 4:
            assert cell_measures(meshes.Mesh(points, cell, lengths=lengths))[0] == pytest.approx(size, rel=1e-12)
    regular = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    assert abs(quality(regular, np.arange(4)[None])[0]) == pytest.approx(1)
    assert abs(quality(regular, np.arange(3)[None])[0]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("points", "cells", "said"),
    [
        ([[0, 0], [np.nan, 0], [0, 1]], [[0, 1, 2]], "point 1"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 3]], r"got index 3, 3 vertices; expected indices from 0 to 2"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, -1]], "got index -1"),
        ([[0, 0], [1, 0], [0, 1]], [[0.0, 1.0, 2.0]], "expected integers"),
        ([[0, 0], [1, 0], [0, 1]], np.zeros((0, 3), int), "no cells"),
        ([[0], [1], [2]], [[0, 1, 2]], "expected at least 2"),
        ([0, 1, 2], [[0, 1, 2]], "shape"),
        ([[0, 0], [1, 0], [0, 1], [1, 1], [2, 2]], [[0, 1, 2, 3, 4]], "cells of 5 vertices"),
    ],
)
def test_bad_meshes_are_refused_when_made(points, cells, said):
    with pytest.raises(ValueError, match=said):
        meshes.Mesh(points, cells)


def test_a_mesh_does_not_change():
    points = np.zeros((3, 2))
    points[1:] = np.eye(2)
    mesh = meshes.Mesh(points, [[0, 1, 2]], {"a": [[0, 1]]})
    points[:] = 7
    assert mesh.points[0, 0] == 0
    for array in (mesh.points, mesh.cells, mesh.groups["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


# the command line


def test_command_prints_one_json_object(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["mesh", str(DATA / "annulus.msh"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    keys = {"vertices", "edges", "faces", "tets", "euler", "betti", "boundary_loops", "components", "orientable"}
    assert keys | {"orientation", "area", "signed_volume", "volume", "defects"} <= set(found)
    assert found["betti"] == [1, 1, 0] and found["boundary_loops"] == 2 and found["signed_volume"] is None
    assert "signed_volume" in found["reasons"]
    assert (tmp_path / "runs" / "annulus-mesh.png").stat().st_size > 10_000


def test_command_turns_repairs_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert (
        main(["mesh", str(DATA / "oriented_squares.msh"), "--orient", "--write", "out.vtu", "--picture", "a.png"]) == 0
    )
    said = capsys.readouterr().out
    assert "counter-clockwise" in said and "turned 250 of 266 cells" in said and "written: out.vtu" in said
    assert meshes.check(meshes.read("out.vtu")).signed_area == pytest.approx(1)
    assert main(["mesh", str(DATA / "unit_cube.STL"), "--no-weld"]) == 0
    assert "12 0 0" in capsys.readouterr().out
    assert main(["mesh", str(DATA / "DarcyFlow_triangles.txt"), "--one-based"]) == 0
    assert "526" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["DarcyFlow_triangles.txt"], "191 vertices: counted from 1?"),
        (["none.off"], "does not open"),
        (["annulus.msh", "--one-based"], "options of plain text"),
        (["annulus.msh", "--orient", "--repair"], "give one of them"),
        (["annulus.msh", "--write", "a.stl", "--dimension", "1"], "coordinates that are not zero"),
        (["beams.msh", "--write", "a.stl"], "expected triangles for STL"),
    ],
)
def test_command_refuses_with_status_3(arguments, said, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "sciml", "mesh", str(DATA / arguments[0]), *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 3, done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr


# found by review


def test_every_vertex_of_a_bad_face_is_not_manifold():
    cells = [(0, 1, 4, 5), (0, 1, 5, 6), (0, 3, 5, 6), (0, 4, 5, 7), (1, 2, 4, 7), (1, 4, 6, 7), (2, 3, 5, 6)]
    cells += [(2, 3, 5, 7), (2, 3, 6, 7), (2, 4, 5, 7), (2, 4, 6, 7)]
    found = meshes.check(meshes.Mesh(np.random.default_rng(0).normal(size=(8, 3)), cells)).defects
    assert found["non_manifold_facets"].where.tolist() == [[2, 4, 7]]
    assert found["non_manifold_vertices"].where.tolist() == [1, 2, 4, 5, 6, 7]


def test_cells_listed_twice_enclose_nothing():
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    report = meshes.check(meshes.Mesh(points, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2], [0, 1, 3]]))
    assert report.signed_volume is None and "listed twice" in report.reasons["signed_volume"]


def test_places_are_compared_as_given():
    mesh = meshes.Mesh([[0, 0], [1e-17, 0], [0, 1e-17], [1, 0], [2, 0], [1, 1]], [[0, 1, 2], [3, 4, 5]])
    assert not meshes.check(mesh).defects["duplicate_vertices"].count


def test_a_plane_in_space_is_turned_as_it_is_checked():
    turned = meshes.repair(meshes.Mesh([[0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 2, 1]])).mesh
    assert meshes.check(turned).orientation == "counter-clockwise" and meshes.check(turned).ok


def test_a_cavity_that_touches_its_wall():
    outer, inner = meshes.cube(2), meshes.cube(1)
    skin = meshes.repair(meshes.Mesh(outer.points, meshes.boundary(outer))).mesh
    hole = meshes.repair(meshes.Mesh(inner.points * 0.5 + [0.25, 0.25, 0.0], meshes.boundary(inner))).mesh
    both = meshes.Mesh(
        np.concatenate([skin.points, hole.points]), np.concatenate([skin.cells, hole.cells[:, ::-1] + len(skin.points)])
    )
    report = meshes.check(both)
    assert report.signed_volume == pytest.approx(0.875) and not report.defects["inside_out"].count
    assert not len(meshes.orient(both).changes["turned_cells"])


def test_lengths_are_one_an_edge_and_meshes_can_be_pickled():
    import pickle

    for count in (2, 4):
        with pytest.raises(ValueError, match="expected 3, one for each edge"):
            meshes.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], lengths=np.ones(count))
    again = pickle.loads(pickle.dumps(meshes.square(2)))
    assert np.array_equal(again.points, meshes.square(2).points) and set(again.groups) == set(meshes.square(2).groups)


def test_rows_of_groups_that_are_dropped_are_told():
    found = meshes.repair(meshes.Mesh([[0, 0], [1, 0], [0, 1], [5, 5]], [[0, 1, 2]], {"probe": [[3]]}))
    assert "dropped 1 rows of group 'probe'" in found.mesh.notes
    for rows in ([0, 1], [[0, 1, 2, 0]]):
        with pytest.raises(ValueError, match=r"got a part|shape"):
            meshes.betti(found.mesh, np.array(rows))
    with pytest.raises(ValueError, match="expected Structured"):
        arrange(found.mesh, None)


def test_lengths_follow_the_cells_that_are_left():
    """A mesh by lengths whose first cell is broken, and one with a repeated cell."""
    lengths = [3.0, 4.0, 6.0, 5.0, 7.0]  # of the edges 01, 02, 03, 12, 13
    mesh = meshes.Mesh(np.zeros((4, 2)), [[0, 3, 3], [0, 1, 2], [0, 2, 1], [0, 1, 3]], lengths=lengths)
    report = meshes.check(mesh)
    assert report.defects["collapsed_cells"].where.tolist() == [0] and report.area is not None
    assert meshes.check(meshes.repair(mesh).mesh).area == pytest.approx(6 + np.sqrt(8 * 5 * 1 * 2))
    alone = meshes.Mesh(np.zeros((4, 2)), [[0, 1, 2], [0, 3, 3]], lengths=[3.0, 4.0, 9.0, 5.0])
    found = meshes.repair(alone).mesh
    assert found.lengths.tolist() == [3.0, 4.0, 5.0] and meshes.check(found).area == pytest.approx(6.0)


def test_all_points_at_one_place():
    report = meshes.check(meshes.Mesh(np.ones((3, 3)), [[0, 1, 2]]))
    assert report.area == 0.0 and counts(report)["flat_cells"] == 1 and counts(report)["duplicate_vertices"] == 2


def test_sizes_that_underflow_say_so():
    square = meshes.square(2)
    report = meshes.check(meshes.Mesh(square.points * 1e-200, square.cells))
    assert report.area is None and "underflows" in report.reasons["area"]
    with pytest.raises(ValueError, match="no simplices of the mesh"):
        meshes.refine(meshes.Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2], [1, 3, 2]], {"a": [[0, 3]]}), 2)
