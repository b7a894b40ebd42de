"""Functions on a mesh as Fields: piecewise linear interpolation, located by a grid of bins."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int32

_MOST = 64  # bins a direction


class MeshField(eqx.Module):
    """The piecewise linear function of values at the vertices of a mesh whose cells have the dimension of space.

    Outside the mesh it is the linear function of the nearest candidate cell. `candidates` lists the cells that may hold
    the points of each bin of a grid over the box of the mesh, padded by repetition.
    """

    values: Float[Array, "n *_b"]
    cells: Int32[Array, "_m _c"]
    corner: Float[Array, "_m _d"]
    inverse: Float[Array, "_m _d _d"]
    candidates: Int32[Array, "_bins _k"]
    low: Float[Array, " _d"]
    width: Float[Array, " _d"]
    bins: tuple[int, ...] = eqx.field(static=True)

    @property
    def nodal(self) -> Float[Array, "n *_b"]:
        """Values at the vertices."""
        return self.values

    def __call__(self, x: Float[Array, " _d"]) -> Float[Array, "*_b"]:
        at = jnp.clip(((x - self.low) / self.width).astype(int), 0, jnp.array(self.bins) - 1)
        near = self.candidates[jnp.ravel_multi_index(tuple(at), self.bins, mode="clip")]
        rest = jnp.einsum("kij,kj->ki", self.inverse[near], x - self.corner[near])
        share = jnp.concatenate([1 - jnp.sum(rest, axis=1, keepdims=True), rest], axis=1)
        best = jnp.argmax(jnp.min(share, axis=1))
        return jnp.tensordot(share[best], self.values[self.cells[near[best]]], axes=1)


def mesh_field(
    points: Float[np.ndarray, "n d"], cells: Int32[np.ndarray, "m c"], values: Float[Array, "n *_b"]
) -> MeshField:
    """The field of values at vertices. ValueError unless the cells have the dimension of space."""
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
    return MeshField(
        values,
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
    from scipy.spatial import KDTree

    empty = [number for number, cells in enumerate(held) if not cells]
    centre = low + (np.stack(np.unravel_index(np.array(empty, np.intp), bins), axis=1) + 0.5) * width
    nearest = KDTree(middle).query(centre)[1] if empty else []
    for number, cell in zip(empty, np.atleast_1d(nearest), strict=True):
        held[number] = [int(cell)]
    longest = max(map(len, held))
    return np.array([cells + [cells[-1]] * (longest - len(cells)) for cells in held], np.int32)


class SpaceTimeField(eqx.Module):
    """A field of space and time: mesh functions at equal time steps (one value a step), linear in between."""

    space: MeshField
    start: Float[Array, ""]
    step: Float[Array, ""]

    @property
    def nodal(self) -> Float[Array, "n _t"]:
        """Values at the vertices at every time step."""
        return self.space.values

    def __call__(self, z: Float[Array, " _d"]) -> Float[Array, ""]:
        every = self.space(z[:-1])
        at = jnp.clip((z[-1] - self.start) / self.step, 0, len(every) - 1)
        low = jnp.clip(jnp.floor(at).astype(int), 0, len(every) - 2)
        return every[low] + (at - low) * (every[low + 1] - every[low])
