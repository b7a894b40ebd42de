"""Mesh files: real ones with their known values, round trips, other libraries as oracles, malformed input."""

import base64
import itertools
import struct
import warnings
import zlib
from pathlib import Path

import meshlane
import mutants
import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

import meshes
from meshes.check import summary

DATA = Path(__file__).parent / "data"
# file: vertices, edges, faces, tets, chi, Betti numbers, boundary loops, area, signed volume, volume
RIGHT = {
    "DarcyFlow_vertices.txt": (191, 526, 336, 0, 1, (1, 0, 0), 1, np.pi**2, None, None),
    "bob_small.ply": (250, 750, 500, 0, 0, (1, 2, 1), 0, 5.740595765, 0.679148235, None),
    "fan3.obj": (5, 7, 3, 0, 1, (1, 0, 0), None, 25.9533, None, None),
    "hourglass_ico.obj": (23, 60, 40, 0, 3, (1, 0, 2), 0, 19.148806617, 5.072191699, None),
    "moebius.obj": (280, 728, 448, 0, 0, (1, 1, 0), 1, None, None, None),
    "annulus.msh": (60, 158, 98, 0, 0, (1, 1, 0), 2, 0.735267104, None, None),
    "beams.msh": (289, 1344, 1906, 851, 0, (1, 1, 0, 0), None, None, 0.12, 0.12),
    "oriented_squares.msh": (154, 419, 266, 0, 1, (1, 0, 0), 1, 1.0, None, None),
    "mixedtriquad.msh": (56, 143, 88, 0, 1, (1, 0, 0), 1, 0.386444077, None, None),
    "whitespace.off": (8, 18, 12, 0, 2, (1, 0, 1), 0, 32.0000043, 12.3168082, None),
    "shared.STL": (14, 35, 24, 0, 3, (1, 0, 2), 0, 12.0, 2.0, None),
    "plate_holes.STL": (618, 1878, 1252, 0, -8, (1, 10, 1), 0, 133343.41, 767362.11, None),
    "unit_cube.STL": (8, 18, 12, 0, 2, (1, 0, 1), 0, 6.0, 1.0, None),
}


def loaded(name):
    return meshes.read(DATA / name, one_based=name.endswith(".txt"))


@pytest.mark.parametrize("name", RIGHT)
def test_real_files_have_their_known_values(name):
    vertices, edges, faces, tets, euler, betti, loops, area, signed, volume = RIGHT[name]
    report = meshes.check(loaded(name))
    assert (report.vertices, report.edges, report.faces, report.tets) == (vertices, edges, faces, tets)
    assert (report.euler, report.betti, report.boundary_loops) == (euler, betti, loops)
    for found, right in ((report.area, area), (report.signed_volume, signed), (report.volume, volume)):
        if right is not None:
            assert found == pytest.approx(right, rel=1e-7)


def test_real_files_have_their_known_defects_and_groups():
    reports = {name: meshes.check(loaded(name)) for name in RIGHT}
    where = {name: {k: d.where for k, d in r.defects.items() if d.count} for name, r in reports.items()}
    assert where["fan3.obj"]["non_manifold_facets"].tolist() == [[2, 4]]
    assert len(where["shared.STL"]["non_manifold_facets"]) == 1
    assert "non_manifold_facets" not in where["hourglass_ico.obj"]
    assert len(where["hourglass_ico.obj"]["non_manifold_vertices"]) == 1
    assert not reports["moebius.obj"].orientable and reports["moebius.obj"].orientation == "not orientable"
    assert reports["moebius.obj"].facets["1"] == 112
    assert reports["plate_holes.STL"].genus == 5 and reports["bob_small.ply"].genus == 1
    ring = loaded("annulus.msh")
    assert {name: len(rows) for name, rows in ring.groups.items()} == {"all": 98, "inter": 7, "exter": 15}
    radius = {name: np.linalg.norm(ring.points[ring.groups[name]], axis=2) for name in ("inter", "exter")}
    assert np.allclose(radius["inter"], 0.1) and np.allclose(radius["exter"], 0.5)
    beams = loaded("beams.msh")
    assert {name: rows.shape for name, rows in beams.groups.items()} == {"all": (851, 4), "fixed": (8, 3)}
    assert reports["beams.msh"].facets["1"] == 408 and reports["beams.msh"].orientation == "positive"
    assert "cut 36 quadrilaterals into 72 triangles" in loaded("mixedtriquad.msh").notes
    squares = reports["oriented_squares.msh"]
    assert squares.orientation == "mixed" and squares.signed_area == pytest.approx(-0.92)
    assert (np.sum(squares.cell_orientation < 0), np.sum(squares.cell_orientation > 0)) == (250, 16)


def test_stl_soup_is_welded_unless_told_not_to():
    """libigl issue 1331, trimesh issue 221, meshpy issue 39."""
    raw = meshes.check(meshes.read(DATA / "unit_cube.STL", weld=False))
    assert (raw.vertices, raw.edges, raw.faces, raw.betti) == (36, 36, 12, (12, 0, 0))
    assert raw.defects["duplicate_vertices"].count == 28
    welded = meshes.read(DATA / "unit_cube.STL")
    assert any("merged 36 points to 8 (tolerance 0" in note for note in welded.notes)
    assert len(meshes.read(DATA / "plate_holes.STL", weld=False).points) == 3756


def test_sphere_soup_of_six_by_six(tmp_path):
    """144 points for a sphere of 26 (meshpy issue 39)."""
    rows = [[(0.0, 0.0, 1.0)]]
    for i in range(1, 5):
        polar = np.pi * i / 5
        rows.append(
            [
                (np.sin(polar) * np.cos(t), np.sin(polar) * np.sin(t), np.cos(polar))
                for t in 2 * np.pi * np.arange(6) / 6
            ]
        )
    rows.append([(0.0, 0.0, -1.0)])
    points = np.array([p for row in rows for p in row])
    first = np.cumsum([0, *(len(row) for row in rows)])
    cells = [[0, 1 + i, 1 + (i + 1) % 6] for i in range(6)]
    for a, b in itertools.pairwise(first[1:5]):
        for i in range(6):
            j = (i + 1) % 6
            cells += [[a + i, b + i, b + j], [a + i, b + j, a + j]]
    cells += [[25, first[4] + (i + 1) % 6, first[4] + i] for i in range(6)]
    meshes.write(meshes.Mesh(points, cells), tmp_path / "sphere.stl")
    report = meshes.check(meshes.read(tmp_path / "sphere.stl"))
    assert (report.vertices, report.edges, report.faces) == (26, 72, 48) and report.orientation == "outward"
    assert len(meshes.read(tmp_path / "sphere.stl", weld=False).points) == 144


def test_counted_from_one():
    """deepxde 947 and others, pydec's Darcy example: refuse with the reason, or read as told."""
    with pytest.raises(meshes.MeshFileError, match=r"got index 191, 191 vertices: counted from 1\?"):
        meshes.read(DATA / "DarcyFlow_triangles.txt")
    for name in ("DarcyFlow_triangles.txt", "DarcyFlow_vertices.txt"):
        report = meshes.check(meshes.read(DATA / name, one_based=True))
        assert (report.vertices, report.edges, report.faces) == (191, 526, 336)
    both = meshes.read(DATA / "DarcyFlow_vertices.txt", DATA / "DarcyFlow_triangles.txt", one_based=True)
    assert len(both.cells) == 336


OFF_HEADS = ("OFF 4 2 0\n", "OFF4 2 0\n", "OFF\n4 2 0\n", "# made by hand\n\nOFF # remark\n\n 4 2 # no edges\n")


@pytest.mark.parametrize("head", OFF_HEADS)
def test_off_headers_in_the_wild(head, tmp_path):
    """PyMesh issue 162, trimesh issue 542."""
    path = tmp_path / "a.off"
    path.write_text(head + "0 0 0\n1 0 0 # corner\n\n1 1 0\n0 1 0\n3 0 1 2 255 0 0\n3 0 2 3\n")
    mesh = meshes.read(path)
    assert mesh.cells.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert meshes.check(mesh).area == 1.0


def test_off_that_is_only_a_keyword(tmp_path):
    path = tmp_path / "only.off"
    path.write_text("OFF\n")
    with pytest.raises(meshes.MeshFileError, match=r"only\.off: line 1: got the keyword OFF and no counts"):
        meshes.read(path)


def ply_of_one_triangle(kind, before):
    """Four points and one face, a material number before or after the list of indices (Open4D issue 22)."""
    extra, list_ = "property int material\n", "property list uchar int vertex_indices\n"
    head = f"ply\nformat {kind} 1.0\nelement vertex 4\n" + "".join(f"property float {c}\n" for c in "xyz")
    head += "element face 1\n" + (extra + list_ if before else list_ + extra) + "end_header\n"
    points = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
    if kind == "ascii":
        face = "7 3 0 1 2" if before else "3 0 1 2 7"
        return (
            head + "\n".join(" ".join(map(str, points[i : i + 3])) for i in range(0, 12, 3)) + f"\n{face}\n"
        ).encode()
    order = "<" if "little" in kind else ">"
    face = struct.pack(order + "iB3i", 7, 3, 0, 1, 2) if before else struct.pack(order + "B3ii", 3, 0, 1, 2, 7)
    return head.encode() + struct.pack(order + "12f", *points) + face


@pytest.mark.parametrize("kind", ["ascii", "binary_little_endian", "binary_big_endian"])
@pytest.mark.parametrize("before", [True, False])
def test_ply_with_another_property_about_the_indices(kind, before, tmp_path):
    path = tmp_path / "a.ply"
    path.write_bytes(ply_of_one_triangle(kind, before))
    mesh = meshes.read(path)
    report = meshes.check(mesh)
    assert mesh.cells.tolist() == [[0, 1, 2]] and report.area == 0.5
    assert report.defects["unreferenced_vertices"].where.tolist() == [3]
    assert any("face material" in note for note in mesh.notes)


def test_ply_with_faces_of_unequal_size(tmp_path):
    head = "ply\nformat binary_little_endian 1.0\nelement vertex 5\n" + "".join(f"property double {c}\n" for c in "xyz")
    head += "element face 2\nproperty list uchar uint vertex_index\nproperty uchar red\nend_header\n"
    points = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0.5, 0]
    body = struct.pack("<15d", *points) + struct.pack("<B4IB", 4, 0, 1, 2, 3, 9) + struct.pack("<B3IB", 3, 1, 4, 2, 9)
    (tmp_path / "a.ply").write_bytes(head.encode() + body)
    mesh = meshes.read(tmp_path / "a.ply")
    assert mesh.cells.tolist() == [[0, 1, 2], [0, 2, 3], [1, 4, 2]]
    assert mesh.points.shape == (5, 2) and meshes.read(tmp_path / "a.ply", dimension=3).points.shape == (5, 3)


def test_msh_with_five_groups_and_quadrilaterals(tmp_path):
    """meshio issues 169, 1388, 1409: nine points, eight sides, four quads."""
    names = ["lower", "right", "upper", "left", "domain"]
    grid = [(x / 2, y / 2) for y in range(3) for x in range(3)]
    sides = [(1, 0, 1), (1, 1, 2), (2, 2, 5), (2, 5, 8), (3, 8, 7), (3, 7, 6), (4, 6, 3), (4, 3, 0)]
    quads = [(0, 1, 4, 3), (1, 2, 5, 4), (3, 4, 7, 6), (4, 5, 8, 7)]
    text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n"
    text += (
        "".join(f'{1 if i < 4 else 2} {i + 1} "{n}"\n' for i, n in enumerate(names)) + "$EndPhysicalNames\n$Nodes\n9\n"
    )
    tags = [30, 2, 14, 5, 7, 90, 1, 8, 3]  # unordered
    text += "".join(f"{t} {x} {y} 0\n" for t, (x, y) in zip(tags, grid, strict=True)) + "$EndNodes\n$Elements\n13\n"
    text += "".join(f"{i + 1} 1 2 {g} {g} {tags[a]} {tags[b]}\n" for i, (g, a, b) in enumerate(sides))
    text += "".join(f"{i + 9} 3 2 5 5 {' '.join(str(tags[v]) for v in q)}\n" for i, q in enumerate(quads))
    text += f"13 1 0 {tags[1]} {tags[4]}\n$EndElements\n"
    (tmp_path / "a.msh").write_text(text)
    mesh = meshes.read(tmp_path / "a.msh")
    assert set(mesh.groups) == {*names, "none"}
    for name in names[:4]:
        rows = mesh.groups[name]
        assert np.linalg.norm(np.diff(mesh.points[rows], axis=1), axis=2).sum() == pytest.approx(1)
    assert np.all(mesh.points[mesh.groups["right"]][..., 0] == 1) and np.all(
        mesh.points[mesh.groups["upper"]][..., 1] == 1
    )
    assert mesh.groups["none"].tolist() == [[1, 4]]
    report = meshes.check(mesh)
    assert report.area == 1.0 and report.faces == 8 and mesh.points.shape[1] == 2
    meshes.write(mesh, tmp_path / "a.vtu")
    again = meshes.read(tmp_path / "a.vtu", dimension=2)
    assert np.array_equal(again.points, mesh.points) and np.array_equal(again.cells, mesh.cells)
    assert meshes.read(tmp_path / "a.vtu", dimension=3).points.shape == (9, 3)


def test_coordinates_that_are_all_zero_are_left_out_down_to_the_degree(tmp_path):
    meshes.write(meshes.interval(3), tmp_path / "a.vtu")
    assert meshes.read(tmp_path / "a.vtu").points.shape == (4, 1)
    assert meshes.read(tmp_path / "a.vtu", dimension=3).points.shape == (4, 3)
    with pytest.raises(meshes.MeshFileError, match="not zero"):
        meshes.read(DATA / "annulus.msh", dimension=1)


def test_msh_element_in_several_groups(tmp_path):
    mesh = meshes.square(2)
    both = meshes.Mesh(
        mesh.points, mesh.cells, {"all": mesh.cells, "some": mesh.cells[2:5], "left": mesh.groups["left"]}
    )
    for version in ("2.2", "4.1"):
        meshes.write(both, tmp_path / "a.msh", version=version)
        again = meshes.read(tmp_path / "a.msh")
        assert len(again.cells) == 8
        assert {n: sorted(map(sorted, r.tolist())) for n, r in again.groups.items()} == {
            n: sorted(map(sorted, r.tolist())) for n, r in both.groups.items()
        }


OPTIONS = [
    *(("off", {}), ("obj", {}), ("stl", {}), ("stl", {"binary": False}), ("vtu", {}), ("vtu", {"binary": False})),
    *(("ply", {"binary": False}), ("ply", {}), ("ply", {"big_endian": True})),
    *(("msh", {"version": v, "binary": b}) for v in ("2.2", "4.1") for b in (False, True)),
]


def same_rows(a, b):
    return sorted(map(sorted, a.tolist())) == sorted(map(sorted, b.tolist()))


@pytest.mark.parametrize(("suffix", "options"), OPTIONS, ids=str)
def test_what_is_written_reads_back(suffix, options, tmp_path):
    grown = [meshes.torus(5), meshes.square(3, layout=meshes.Jittered(0.2, seed=1))]
    grown += [meshes.cube(2), meshes.interval(4)] if suffix in ("msh", "vtu") else []
    for mesh in grown:
        path = tmp_path / f"a.{suffix}"
        lost = meshes.write(mesh, path, **options)
        again = meshes.read(path, dimension=mesh.points.shape[1])
        a, b = meshes.check(mesh), meshes.check(again)
        assert (a.vertices, a.edges, a.faces, a.tets, a.betti, a.orientation) == (
            *(b.vertices, b.edges, b.faces, b.tets, b.betti, b.orientation),
        )
        if suffix == "stl":
            assert b.area == pytest.approx(a.area, rel=1e-6)
            continue
        assert np.array_equal(mesh.points, again.points)
        assert same_rows(mesh.cells, again.cells)
        for name in mesh.groups:
            assert (name in again.groups and same_rows(mesh.groups[name], again.groups[name])) or any(
                name in n for n in lost
            )
        if suffix in ("msh", "vtu"):
            assert not lost and set(mesh.groups) <= set(again.groups)


def test_text_arrays_read_back(tmp_path):
    mesh = meshes.disk(2)
    meshes.write(mesh, tmp_path / "d_vertices.txt", tmp_path / "d_triangles.txt")
    again = meshes.read(tmp_path / "d_triangles.txt")
    assert np.array_equal(mesh.points, again.points) and np.array_equal(mesh.cells, again.cells)
    meshes.write(meshes.klein(4), tmp_path / "k_points.csv", tmp_path / "k_cells.csv")
    assert meshes.betti(meshes.read(tmp_path / "k_cells.csv"), prime=2) == (1, 2, 1)


@pytest.mark.parametrize(("suffix", "options"), OPTIONS[:4] + OPTIONS[6:9], ids=str)
def test_trimesh_reads_what_is_written(suffix, options, tmp_path):
    mesh = meshes.torus(6)
    meshes.write(mesh, tmp_path / f"a.{suffix}", **options)
    other = trimesh.load(tmp_path / f"a.{suffix}")
    assert (len(other.vertices), len(other.faces)) == (len(mesh.points), len(mesh.cells))
    assert other.volume == pytest.approx(meshes.check(mesh).signed_volume, rel=1e-5)
    assert other.is_watertight and other.euler_number == 0


@pytest.mark.parametrize(("suffix", "options"), OPTIONS[4:6] + OPTIONS[9:], ids=str)
def test_meshlane_reads_what_is_written(suffix, options, tmp_path):
    cube = meshes.cube(2)  # all cells in a group: meshlane cannot read elements without one beside others with one
    mesh = meshes.Mesh(cube.points, cube.cells, {**cube.groups, "all": cube.cells})
    meshes.write(mesh, tmp_path / f"a.{suffix}", **options)
    other = meshlane.read(tmp_path / f"a.{suffix}")
    tets = np.concatenate([block.data for block in other.cells if block.type == "tetra"])
    assert np.array_equal(other.points, mesh.points) and same_rows(tets, mesh.cells)


@pytest.mark.parametrize(
    ("suffix", "kind"), [("vtu", "vtu"), ("msh", "gmsh"), ("msh", "gmsh22"), ("ply", "ply"), ("stl", "stl")]
)
def test_files_written_by_meshlane_read(suffix, kind, tmp_path):
    mesh = meshes.torus(5)
    other = meshlane.Mesh(mesh.points, [("triangle", mesh.cells)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other library
        for options in ({}, {"binary": False}):
            meshlane.write(tmp_path / f"a.{suffix}", other, file_format=kind, **options)
            again = meshes.read(tmp_path / f"a.{suffix}")
            assert meshes.betti(again) == (1, 2, 1)
            if suffix != "stl":
                assert np.allclose(again.points, mesh.points, rtol=1e-10) and np.array_equal(again.cells, mesh.cells)


@pytest.mark.parametrize("header", ["UInt32", "UInt64"])
@pytest.mark.parametrize("encoding", ["raw", "base64"])
@pytest.mark.parametrize("compressed", [True, False])
def test_vtu_appended_data(header, encoding, compressed, tmp_path):
    """Appended arrays, raw and base64, plain and in compressed blocks of both header widths."""
    mesh, kind = meshes.square(2), {"UInt32": "<u4", "UInt64": "<u8"}[header]

    def packed(array):
        data = array.tobytes()
        if not compressed:
            head, body = np.array([len(data)], kind).tobytes(), data
        else:
            parts = [data[i : i + 64] for i in range(0, len(data), 64)]
            small = [zlib.compress(p) for p in parts]
            last = len(parts[-1]) if len(parts[-1]) < 64 else 0
            head = np.array([len(parts), 64, last, *map(len, small)], kind).tobytes()
            body = b"".join(small)
        if encoding == "raw":
            return head + body
        return base64.b64encode(head) + base64.b64encode(body) if compressed else base64.b64encode(head + body)

    arrays = {
        "points": np.pad(mesh.points, ((0, 0), (0, 1))).astype("<f8"),
        "connectivity": mesh.cells.astype("<i4"),
        "offsets": (3 * np.arange(1, len(mesh.cells) + 1)).astype("<i8"),
        "types": np.full(len(mesh.cells), 5, "u1"),
    }
    held = [packed(a) for a in arrays.values()]
    offset = dict(zip(arrays, np.cumsum([0, *map(len, held[:-1])]), strict=True))
    types = {"points": "Float64", "connectivity": "Int32", "offsets": "Int64", "types": "UInt8"}
    tag = {n: f'<DataArray type="{types[n]}" Name="{n}" format="appended" offset="{offset[n]}"/>' for n in arrays}
    name = ' compressor="vtkZLibDataCompressor"' if compressed else ""
    text = (
        f'<VTKFile type="UnstructuredGrid" byte_order="LittleEndian" header_type="{header}"{name}><UnstructuredGrid>'
        f'<Piece NumberOfPoints="{len(mesh.points)}" NumberOfCells="{len(mesh.cells)}"><Points>{tag["points"]}</Points>'
        f"<Cells>{tag['connectivity']}{tag['offsets']}{tag['types']}</Cells></Piece></UnstructuredGrid>"
        f'<AppendedData encoding="{encoding}">_'
    )
    (tmp_path / "a.vtu").write_bytes(text.encode() + b"".join(held) + b"</AppendedData></VTKFile>")
    again = meshes.read(tmp_path / "a.vtu")
    assert np.array_equal(again.points, mesh.points) and np.array_equal(again.cells, mesh.cells)


def test_obj_with_relative_indices_groups_and_lines(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nvn 0 0 1\ng lid\nf -3//1 -2//1 -1//1\n"
    text += "v 0 1 0\ng side other\nf 1/1/1 3/2/1 \\\n4/3/1\nl 1 2 3\n"
    (tmp_path / "a.obj").write_text(text)
    mesh = meshes.read(tmp_path / "a.obj")
    assert mesh.cells.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.groups["lid"].tolist() == [[0, 1, 2]] and mesh.groups["other"].tolist() == [[0, 2, 3]]
    lines = [rows for rows in mesh.groups.values() if rows.shape[1] == 2]
    assert sorted(lines[0].tolist()) == [[0, 1], [1, 2]]


def test_quadrilateral_that_folds_is_cut_the_other_way(tmp_path):
    """An arrow head: the diagonal from its first corner lies outside."""
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 2 2 0\nv 0 0.5 0\nv -2 2 0\nf 4 1 2 3\n")
    mesh = meshes.read(tmp_path / "a.obj")
    assert np.all(meshes.check(mesh).cell_orientation > 0)
    assert meshes.check(mesh).area == pytest.approx(1.0)


BAD = {
    "a.off": [
        ("OFF\n3 1 0\n0 0 0\nnan 0 0\n0 1 0\n3 0 1 2\n", "point 1"),
        ("OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2\n", "line 4"),
    ],
    "b.off": [
        ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "index 3, 3 vertices"),
        ("OFF\n9999999999 1 0\n0 0 0\n", "9999999999"),
    ],
    "c.off": [
        ("COFF\n", "no counts"),
        ("PLY\n", "expected the keyword OFF"),
        ("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "expected 2"),
    ],
    "a.obj": [
        ("v 0 0 0\nv 1 0 0\nf 1 2 3\n", "line 3"),
        ("v 0 0 x\n", "line 1"),
        ("v 0 0 0\nf 1 1\n", "line 2"),
        ("hello\n", "line 1"),
    ],
    "a.ply": [
        ("ply\n", "no PLY header"),
        ("ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nend_header\n", "got 0 rows"),
    ],
    "a.stl": [
        ("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "facet 1"),
        ("x" * 90, "expected"),
        ("", "0 bytes"),
    ],
    "a.msh": [
        ("$MeshFormat\n4 0 8\n$EndMeshFormat\n", "version 4"),
        ("hello", "MeshFormat"),
        ("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", r"\$Nodes"),
    ],
    "a.vtu": [("<VTKFile/>", "expected"), ("<!DOCTYPE a><VTKFile/>", "document type"), ("<a", "does not parse")],
    "a.xyz": [("", "suffix")],
    "alone_triangles.txt": [("0 1 2\n", "alone")],
}


@pytest.mark.parametrize(("name", "text", "said"), [(n, *case) for n, cases in BAD.items() for case in cases])
def test_malformed_files_are_one_sentence_with_the_place(name, text, said, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(meshes.MeshFileError, match=said) as error:
        meshes.read(tmp_path / name)
    assert name in str(error.value) and "\n" not in str(error.value)


def test_files_that_are_not_there_or_cannot_be_written(tmp_path):
    with pytest.raises(meshes.MeshFileError, match="does not open"):
        meshes.read(tmp_path / "none.off")
    with pytest.raises(ValueError, match="expected triangles for STL"):
        meshes.write(meshes.cube(1), tmp_path / "a.stl")
    with pytest.raises(ValueError, match="at most 3"):
        meshes.write(meshes.klein(4), tmp_path / "a.ply")
    with pytest.raises(ValueError, match="edge lengths"):
        meshes.write(meshes.flat_torus(4), tmp_path / "a.msh")
    with pytest.raises(ValueError, match="got the option colour"):
        meshes.write(meshes.square(1), tmp_path / "a.off", colour=1)
    with pytest.raises(ValueError, match="expected a file in a folder that exists"):
        meshes.write(meshes.square(1), tmp_path / "no" / "a.off")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return mutants.samples(tmp_path_factory.mktemp("mutants"))


@pytest.mark.parametrize("number", range(14))
def test_damaged_files_are_meshes_or_one_sentence(files, number):
    kind, (path, data) = list(files.items())[number]
    rng = np.random.default_rng(number)
    refused = 0
    for _ in range(100):
        path.write_bytes(mutants.damaged(data, rng))
        try:
            summary(meshes.check(meshes.read(path)))
        except meshes.MeshFileError as error:
            refused += 1
            assert "\n" not in str(error), kind
    assert 0 < refused < 100


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["off", "obj", "ply", "stl", "msh", "vtu"]))
def test_bytes_of_any_kind_are_no_traceback(tmp_path_factory, data, suffix):
    path = tmp_path_factory.getbasetemp() / f"any.{suffix}"
    path.write_bytes(data)
    with pytest.raises(meshes.MeshFileError):
        meshes.read(path)


BEYOND = {
    "a.off": "OFF\n3 1 0\n0 0 1\n1 0 0\n0 1 0\n3 0 1 2\n3 0 2 1\n",
    "b.ply": "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float x\nend_header\n0 0\n",
    "c.ply": "ply\nformat ascii 1.0\nelement face 1\nelement face 1\nend_header\n",
}


@pytest.mark.parametrize("name", BEYOND)
def test_more_than_the_header_says_is_refused(name, tmp_path):
    (tmp_path / name).write_text(BEYOND[name])
    with pytest.raises(meshes.MeshFileError, match=r"more than|twice"):
        meshes.read(tmp_path / name)
    text = ply_of_one_triangle("ascii", False).decode()
    (tmp_path / "d.ply").write_text(text + "3 0 1 3 7\n")
    with pytest.raises(meshes.MeshFileError, match=r"after the last|more"):
        meshes.read(tmp_path / "d.ply")


@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_groups_with_awkward_names_survive(version, tmp_path):
    points, cells = [[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2], [1, 3, 2]]
    groups = {
        "a": [[0, 1, 2]],
        "a (triangles)": [[0, 1, 2]],
        "b (edges)": [[0, 1]],
        "none (yet)": [[1, 3]],
        "a\\": [[0, 1, 2]],
    }
    mesh = meshes.Mesh(points, cells, groups)
    for path, options in ((tmp_path / "a.msh", {"version": version}), (tmp_path / "a.vtu", {})):
        assert not meshes.write(mesh, path, **options)
        again = meshes.read(path)
        assert len(again.cells) == 2
        assert all(same_rows(again.groups[n], mesh.groups[n]) for n in groups)
    lost = meshes.write(mesh, tmp_path / "a.obj")
    assert len(meshes.read(tmp_path / "a.obj").cells) == 2 and any("'a\\\\'" in note for note in lost)
    (tmp_path / "n.obj").write_text("v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\ng none\nf 1 3 2\n")
    named = meshes.read(tmp_path / "n.obj").groups
    assert named["none"].tolist() == [[0, 2, 1]] and named["none (loose)"].tolist() == [[0, 1, 2]]


def test_an_error_names_the_file_it_is_in(tmp_path):
    (tmp_path / "p_vertices.txt").write_text("0 0\n1 0\n0 x\n")
    (tmp_path / "p_triangles.txt").write_text("0 1 2\n")
    with pytest.raises(meshes.MeshFileError, match=r"p_vertices\.txt: line 3"):
        meshes.read(tmp_path / "p_triangles.txt")
