"""The text and the picture of a mesh that was checked."""

from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import meshes
from sciml.report.plots import save
from sciml.report.table import table

_MOST = 20_000  # cells drawn; more are a smear
_PLURALS = ("vertices", "edges", "triangles", "tetrahedra")
_SIZES = {1: ("length",), 2: ("area", "signed_area", "signed_volume"), 3: ("volume", "signed_volume", "area")}


def mesh_table(report: meshes.Report) -> str:
    """The report as a table: what the mesh is, then what is wrong with it and where."""
    rows = [
        ("cells", f"{_PLURALS[report.degree]} in {report.dimension} dimensions"),
        *((name, str(getattr(report, name))) for name in ("vertices", "edges", "faces", "tets")),
        *((_words(name), _value(report, name)) for name in ("euler", "betti", "betti_relative", "genus", "components")),
        *((_words(name), _value(report, name)) for name in ("boundary_components", "boundary_loops", "orientable")),
        ("orientation", report.orientation),
        *((_words(name), _value(report, name)) for name in _SIZES[report.degree]),
        ("facets of 1, 2, more cells", ", ".join(str(n) for n in report.facets.values())),
        ("worst quality", f"{report.worst_quality:.3g} (1 regular, 0 flat)"),
        *((f"group {name}", f"{count} {_PLURALS[degree]}") for name, (degree, count) in report.groups.items()),
        *(("note", note) for note in report.notes),
    ]
    found = [(_words(name), str(d.count), _places(d.where), d.meaning) for name, d in report.defects.items() if d.count]
    text = table(rows)
    return f"{text}\n\n{table(found, ('defect', 'count', 'where', 'meaning')) if found else 'no defects'}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _value(report: meshes.Report, name: str) -> str:
    value = getattr(report, name)
    if value is None:
        return f"- ({report.reasons[name]})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (
        f"{value:.9g}"
        if isinstance(value, float)
        else " ".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
    )


def _places(where: np.ndarray) -> str:
    """The first few places of a defect."""
    first = ["-".join(map(str, row)) if isinstance(row, list) else str(row) for row in where[:4].tolist()]
    return " ".join(first) + (" ..." if len(where) > 4 else "")


def draw_mesh(path: Path, mesh: meshes.Mesh, report: meshes.Report) -> None:
    """A picture: turned cells red, groups of edges in colour, edges of three or more triangles thick and red."""
    points = mesh.points[:, :3]
    faces = meshes.boundary(mesh) if mesh.degree == 3 and report.betti is not None else mesh.cells[:, :3]
    if mesh.lengths is not None:
        faces = faces[~_wrapped(mesh, faces)]
    step = max(1, -(-len(faces) // _MOST))
    figure = Figure(figsize=(7, 6))
    spatial = points.shape[1] == 3 and np.ptp(points[:, 2]) > 0
    title = f"{report.vertices} vertices, {len(mesh.cells)} {_PLURALS[mesh.degree]}"
    (_in_space if spatial else _in_plane)(figure, points, faces[::step], mesh, report)
    figure.axes[0].set_title(title + (f" (every {step}th drawn)" if step > 1 else ""))
    save(figure, path)


def _wrapped(mesh: meshes.Mesh, faces: np.ndarray) -> np.ndarray:
    """Faces of a periodic mesh whose drawn edges jump from one side of the picture to the other."""
    sides = np.linalg.norm(mesh.points[faces] - mesh.points[np.roll(faces, 1, axis=1)], axis=2)
    return sides.max(axis=1) > 2 * (mesh.lengths.max() if mesh.lengths is not None else np.inf)


def _in_plane(figure: Figure, points: np.ndarray, faces: np.ndarray, mesh: meshes.Mesh, report: meshes.Report) -> None:
    axes = figure.add_subplot()
    flat = np.pad(points, ((0, 0), (0, max(0, 2 - points.shape[1]))))[:, :2]
    step = max(1, -(-len(mesh.cells) // _MOST))
    turned = report.cell_orientation[::step] < 0
    if mesh.degree == 1:
        axes.add_collection(LineCollection(list(flat[faces]), colors="0.3"))
        axes.plot(*flat.T, ".", color="0.3", markersize=3)
    elif len(turned) == len(faces):
        colors = np.where(turned[:, None], [[0.93, 0.6, 0.55]], [[0.85, 0.9, 0.96]])
        axes.add_collection(PolyCollection(list(flat[faces]), facecolors=colors, edgecolors="0.5", linewidths=0.3))
    else:
        axes.add_collection(PolyCollection(list(flat[faces]), facecolors="0.9", edgecolors="0.5", linewidths=0.3))
    edges = {name: rows for name, rows in mesh.groups.items() if rows.shape[1] == 2 and mesh.degree == 2}
    for number, (name, rows) in enumerate(edges.items()):
        axes.add_collection(LineCollection(list(flat[rows]), colors=f"C{number % 10}", linewidths=2, label=name))
    bad = report.defects["non_manifold_facets"].where
    if bad.size and bad.shape[1] == 2:
        axes.add_collection(
            LineCollection(list(flat[bad]), colors="red", linewidths=3, label="three or more triangles")
        )
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="upper right", fontsize=8)
    axes.autoscale()
    axes.set_aspect("equal" if np.ptp(flat[:, 1]) else "auto")


def _in_space(figure: Figure, points: np.ndarray, faces: np.ndarray, mesh: meshes.Mesh, report: meshes.Report) -> None:
    axes = figure.add_subplot(projection="3d")
    size = float(np.abs(points).max()) or 1.0
    size = size if not 1e-30 < size < 1e30 else 1.0  # matplotlib multiplies coordinates
    place = points / size
    if mesh.degree == 1:
        for edge in place[faces]:
            axes.plot(*edge.T, color="0.3", linewidth=0.8)
    else:
        corner = place[faces]
        normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        length = np.linalg.norm(normal, axis=1)
        light = np.abs(normal @ np.array([0.3, 0.4, 0.85])) / np.where(length > 0, length, 1)
        shade = 0.45 + 0.5 * light[:, None] * np.array([[0.85, 0.95, 1.0]])
        thin = 0.1 if len(faces) < 5_000 else 0.0
        axes.add_collection3d(Poly3DCollection(list(corner), facecolors=shade, edgecolors="0.3", linewidths=thin))
    bad = report.defects["non_manifold_facets"].where
    if bad.size and bad.shape[1] == 2:
        for edge in place[bad[:200]]:
            axes.plot(*edge.T, color="red", linewidth=3)
    low, high = place.min(axis=0), place.max(axis=0)
    half = float(np.max(high - low)) / 2
    for setter, middle in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), (low + high) / 2, strict=True):
        setter(middle - half, middle + half)
    axes.set_box_aspect((1, 1, 1))
    if size != 1.0:
        axes.set_xlabel(f"coordinates over {size:.3g}")
