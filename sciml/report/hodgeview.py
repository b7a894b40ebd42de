"""Pictures of cochains and of their Hodge parts."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import meshes
from sciml.hodge.complex import Complex, geometry_of
from sciml.hodge.whitney import local_mass
from sciml.report.plots import save

_MOST = 20_000
_ARROWS = 600


def cell_norms(complex_: Complex, values: np.ndarray, degree: int) -> np.ndarray:
    """Root mean square of the Whitney form on each cell."""
    geometry = geometry_of(complex_)
    own = jnp.asarray(values)[complex_.corners[degree]]
    energy = jnp.einsum("mi,mij,mj->m", own, local_mass(geometry, degree), own)
    return np.asarray(jnp.sqrt(jnp.maximum(energy / geometry.volume, 0)))


def cell_vectors(complex_: Complex, values: np.ndarray) -> np.ndarray:
    """The vector of a 1-form at the middle of each triangle of the plane."""
    points, cells = np.asarray(complex_.points), np.asarray(complex_.corners[0])
    a, b, c = (points[cells[:, i]] for i in range(3))
    turn = np.array([[0, -1], [1, 0]]).T
    twice = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    gradient = [(side @ turn) / twice[:, None] for side in (c - b, a - c, b - a)]
    own = values[np.asarray(complex_.corners[1])]
    pairs = ((0, 1), (0, 2), (1, 2))
    return np.sum([own[:, e, None] * (gradient[j] - gradient[i]) / 3 for e, (i, j) in enumerate(pairs)], axis=0)


def draw_parts(path: Path, complex_: Complex, degree: int, parts: dict[str, np.ndarray]) -> None:
    """One panel a part, coloured by size on each cell, with arrows for 1-forms in the plane; one colour scale."""
    norms = {name: cell_norms(complex_, values, degree) for name, values in parts.items()}
    top = max(float(n.max()) for n in norms.values()) or 1.0
    spatial = complex_.points.shape[1] >= 3
    figure = Figure(figsize=(4.2 * len(parts), 4.2))
    scale = Normalize(0, top)
    for number, (name, values) in enumerate(parts.items(), start=1):
        axes = figure.add_subplot(1, len(parts), number, **({"projection": "3d"} if spatial else {}))
        (_space if spatial else _plane)(axes, complex_, norms[name], scale)
        if degree == 1 and complex_.degree == 2 and complex_.points.shape[1] == 2 and complex_.lengths is None:
            _arrows(axes, complex_, values)
        axes.set_title(name)
    figure.colorbar(ScalarMappable(scale, "viridis"), ax=figure.axes, shrink=0.7, label="size on a cell")
    save(figure, path)


def _plane(axes: Axes, complex_: Complex, norms: np.ndarray, scale: Normalize) -> None:
    points = np.pad(np.asarray(complex_.points), ((0, 0), (0, 1)))[:, :2]
    cells = np.asarray(complex_.corners[0])
    step = max(1, -(-len(cells) // _MOST))
    kind = LineCollection if complex_.degree == 1 else PolyCollection
    held = kind(list(points[cells[::step]]), array=norms[::step], norm=scale, cmap="viridis")
    axes.add_collection(held)
    axes.autoscale()
    axes.set_aspect("equal" if np.ptp(points[:, 1]) else "auto")


def _arrows(axes: Axes, complex_: Complex, values: np.ndarray) -> None:
    middle = np.asarray(complex_.points)[np.asarray(complex_.corners[0])].mean(axis=1)
    vector = cell_vectors(complex_, values)
    step = max(1, len(middle) // _ARROWS)
    axes.quiver(*middle[::step].T, *vector[::step].T, color="white", width=0.004, pivot="mid")


def _space(axes, complex_: Complex, norms: np.ndarray, scale: Normalize) -> None:
    points = np.asarray(complex_.points)[:, :3]
    cells = np.asarray(complex_.corners[0]).astype(np.int64)
    if complex_.degree == 3:
        rows = meshes.boundary(meshes.Mesh(points, cells))
        owner = {tuple(sorted(f)): n for c, n in zip(cells.tolist(), norms, strict=True) for f in _faces(c)}
        cells, norms = rows, np.array([owner[tuple(sorted(r))] for r in rows.tolist()])
    step = max(1, -(-len(cells) // _MOST))
    colors = ScalarMappable(scale, "viridis").to_rgba(norms[::step])
    if complex_.degree == 1:
        for edge, color in zip(points[cells[::step]], colors, strict=True):
            axes.plot(*edge.T, color=color)
        return
    axes.add_collection3d(Poly3DCollection(list(points[cells[::step]]), facecolors=colors))
    low, high = points.min(axis=0), points.max(axis=0)
    half = float(np.max(high - low)) / 2
    for setter, middle in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), (low + high) / 2, strict=True):
        setter(middle - half, middle + half)


def _faces(cell: list[int]) -> list[tuple[int, ...]]:
    return [tuple(cell[:i] + cell[i + 1 :]) for i in range(len(cell))]
