"""Functions and forms on a mesh as Fields, at points located by a grid of bins."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int32
from scipy.spatial import KDTree

from sciml.hodge.whitney import whitney_forms

_MOST = 64  # bins a direction


class Locator(eqx.Module):
    """Finds the cell of a point of a mesh whose cells have the dimension of space, and its barycentric coordinates.

    `candidates` lists the cells that may hold the points of each bin of a grid over the box of the mesh, padded by
    repetition. Outside the mesh the cell is the nearest candidate, where coordinates are negative.
    """

    cells: Int32[Array, "_m _c"]
    corner: Float[Array, "_m _d"]
    inverse: Float[Array, "_m _d _d"]
    candidates: Int32[Array, "_bins _k"]
    low: Float[Array, " _d"]
    width: Float[Array, " _d"]
    bins: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " _d"]) -> tuple[Int32[Array, ""], Float[Array, " _c"]]:
        at = jnp.clip(((x - self.low) / self.width).astype(int), 0, jnp.array(self.bins) - 1)
        near = self.candidates[jnp.ravel_multi_index(tuple(at), self.bins, mode="clip")]
        rest = jnp.einsum("kij,kj->ki", self.inverse[near], x - self.corner[near])
        share = jnp.concatenate([1 - jnp.sum(rest, axis=1, keepdims=True), rest], axis=1)
        best = jnp.argmax(jnp.min(share, axis=1))
        return near[best], share[best]

    def gradients(self, cell: Int[Array, ""]) -> Float[Array, "_c _d"]:
        """Gradients of the barycentric coordinates of a cell."""
        rest = self.inverse[cell]
        return jnp.concatenate([-jnp.sum(rest, axis=0, keepdims=True), rest])


def locator(points: Float[np.ndarray, "n d"], cells: Int32[np.ndarray, "m c"]) -> Locator:
    """The locator of a mesh. ValueError unless the cells have the dimension of space."""
    dimension = points.shape[1]
    if cells.shape[1] != dimension + 1:
        raise ValueError(f"got cells of {cells.shape[1]} vertices in {dimension} dimensions; expected {dimension + 1}")
    corner = points[cells[:, 0]]
    sides = (points[cells[:, 1:]] - corner[:, None]).transpose(0, 2, 1)
    low, high = points.min(axis=0), points.max(axis=0)
    per = int(np.clip(round((len(cells) / 2) ** (1 / dimension)), 1, _MOST))
    bins = (per,) * dimension
    width = (high - low) / per
    first = np.clip(((points[cells].min(axis=1) - low) / width - 1e-6).astype(int), 0, per - 1)
    last = np.clip(((points[cells].max(axis=1) - low) / width + 1e-6).astype(int), 0, per - 1)
    held: list[list[int]] = [[] for _ in range(per**dimension)]
    for cell, (a, b) in enumerate(zip(first, last, strict=True)):
        for bin_ in np.ndindex(*(b - a + 1)):
            held[np.ravel_multi_index(tuple(a + np.array(bin_)), bins)].append(cell)
    return Locator(
        jnp.asarray(cells),
        jnp.asarray(corner),
        jnp.asarray(np.linalg.inv(sides)),
        jnp.asarray(_padded(held, points[cells].mean(axis=1), low, width, bins)),
        jnp.asarray(low),
        jnp.asarray(width),
        bins,
    )


def _padded(
    held: list[list[int]], middle: np.ndarray, low: np.ndarray, width: np.ndarray, bins: tuple[int, ...]
) -> np.ndarray:
    """Lists of equal length; a bin without cells (in a hole) has the cell whose middle is nearest."""
    empty = [number for number, cells in enumerate(held) if not cells]
    centre = low + (np.stack(np.unravel_index(np.array(empty, np.intp), bins), axis=1) + 0.5) * width
    nearest = KDTree(middle).query(centre)[1] if empty else []
    for number, cell in zip(empty, np.atleast_1d(nearest), strict=True):
        held[number] = [int(cell)]
    longest = max(map(len, held))
    return np.array([cells + [cells[-1]] * (longest - len(cells)) for cells in held], np.int32)


class MeshField(eqx.Module):
    """The piecewise linear function of values at the vertices; outside the mesh that of the nearest cell, continued."""

    values: Float[Array, "n *_b"]
    locator: Locator

    def __call__(self, x: Float[Array, " _d"]) -> Float[Array, "*_b"]:
        cell, share = self.locator(x)
        return jnp.tensordot(share, self.values[self.locator.cells[cell]], axes=1)


class FormField(eqx.Module):
    """Proxies of Whitney forms, joined to one vector: a scalar for degrees 0 and n, a vector in between.

    The vector of a 1-form is that of its coefficients; with `flux` a form of degree n - 1 has the vector (-1)^i times
    the coefficient without dx_i, so that its d is the divergence. `places[j]` has the indices of the faces of each cell
    among the values of form j. Tangential (1-forms) or normal (fluxes) parts alone are continuous between cells.
    """

    values: tuple[Float[Array, " _n"], ...]
    places: tuple[Int32[Array, "_m _f"], ...]
    locator: Locator
    degrees: tuple[int, ...] = eqx.field(static=True)
    flux: tuple[bool, ...] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " _d"]) -> Float[Array, " _k"]:
        cell, share = self.locator(x)
        gradient = self.locator.gradients(cell)
        forms = [
            proxy(values[place[cell]] @ whitney_forms(share, gradient, degree), flux)
            for values, place, degree, flux in zip(self.values, self.places, self.degrees, self.flux, strict=True)
        ]
        return jnp.concatenate(forms)


def proxy(coefficients: Float[Array, " k"], flux: bool) -> Float[Array, " k"]:
    """The vector of a form given by coefficients of dx_i ^ ... in lexicographic order."""
    return coefficients[::-1] * (-1) ** np.arange(len(coefficients)) if flux else coefficients


class SpaceTimeField(eqx.Module):
    """A field of space and time: mesh functions at equal time steps (one value a step), linear in between."""

    space: MeshField
    start: Float[Array, ""]
    step: Float[Array, ""]

    def __call__(self, z: Float[Array, " _d"]) -> Float[Array, ""]:
        every = self.space(z[:-1])
        at = jnp.clip((z[-1] - self.start) / self.step, 0, len(every) - 1)
        low = jnp.clip(jnp.floor(at).astype(int), 0, len(every) - 2)
        return every[low] + (at - low) * (every[low + 1] - every[low])
