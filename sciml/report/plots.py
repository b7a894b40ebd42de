"""Pictures of a run. Functions draw on the axes they are given and return them; nothing is shown or kept globally."""

import io
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.tri import Triangulation

from sciml.domain import Domain
from sciml.field import Field
from sciml.problem import Problem, Reference
from sciml.report.store import write_atomically

_SIDE = 101


def plot_values(ax: Axes, domain: Domain, points: np.ndarray, values: np.ndarray, title: str) -> Axes:
    """Scalar values at points: a line over one coordinate, colours over the first two."""
    ax.set_title(title)
    ax.set_xlabel(domain.names[0])
    if len(domain.names) == 1:
        order = np.argsort(points[:, 0])
        ax.plot(points[order, 0], values[order])
        return ax
    x, y = points[:, 0], points[:, 1]
    triangles = Triangulation(x, y)
    middles = jnp.asarray(points[triangles.triangles].mean(axis=1))
    triangles.set_mask(~np.asarray(jax.vmap(domain.contains)(middles)))
    image = ax.tripcolor(triangles, values, shading="gouraud", rasterized=True)
    figure = ax.get_figure()
    assert figure is not None
    figure.colorbar(image, ax=ax)
    ax.set_ylabel(domain.names[1])
    return ax


def plot_convergence(ax: Axes, rows: Sequence[dict[str, str]], floor: float | None) -> Axes:
    """Loss and error against seconds, with the reference's own error as a line."""
    seconds = [float(row["seconds"]) for row in rows]
    ax.semilogy(seconds, [float(row["loss"]) ** 0.5 for row in rows], label="square root of the loss", alpha=0.7)
    errors = [float(row["relative_l2"]) if row["relative_l2"] else np.nan for row in rows]
    if np.any(np.isfinite(errors)):
        ax.semilogy(seconds, errors, label="relative L2 error")
    if floor is not None:
        ax.axhline(floor, color="grey", linestyle=":", label="error of the reference")
    ax.set_xlabel("seconds")
    ax.set_title("convergence")
    ax.legend()
    return ax


def _plane(problem: Problem) -> np.ndarray:
    """Grid over the first two coordinates, the others at their middle."""
    shape = [_SIDE if i < 2 else 3 for i in range(len(problem.domain.names))]
    points = np.asarray(problem.domain.grid(shape))
    middle = np.asarray((problem.domain.lower + problem.domain.upper) / 2)
    return points[np.all(np.abs(points[:, 2:] - middle[2:]) < 1e-9 * np.abs(middle[2:]) + 1e-12, axis=1)]


def _on_plane(problem: Problem, reference: Reference | None) -> tuple[np.ndarray, np.ndarray | None]:
    if reference is not None and len(problem.domain.names) <= 2:
        return np.asarray(reference.points), np.asarray(reference.values)
    return _plane(problem), None


def draw_solution(path: Path, problem: Problem, field: Field, reference: Reference | None) -> None:
    """PNG of each component: the solution and, with a reference, the reference and the size of the error beside it."""
    points, wanted = _on_plane(problem, reference)
    found = np.asarray(jax.vmap(field)(jnp.asarray(points))).reshape(len(points), -1)
    figure = Figure(figsize=(13 if wanted is not None else 5, 4 * found.shape[1]), layout="constrained")
    axes = figure.subplots(found.shape[1], 3 if wanted is not None else 1, squeeze=False)
    for row, name, values in zip(axes, problem.components, found.T, strict=True):
        plot_values(row[0], problem.domain, points, values, f"{name}, solution")
        if wanted is not None:
            truth = wanted.reshape(len(points), -1)[:, list(problem.components).index(name)]
            plot_values(row[1], problem.domain, points, truth, f"{name}, reference")
            plot_values(row[2], problem.domain, points, np.abs(values - truth), f"{name}, absolute error")
    save(figure, path)


def draw_convergence(path: Path, rows: Sequence[dict[str, str]], floor: float | None) -> None:
    """PNG of the convergence of a run."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    plot_convergence(figure.subplots(), rows, floor)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whole or not at all."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    write_atomically(path, lambda file: file.write(data.getvalue()))
