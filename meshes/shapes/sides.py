"""Names for the sides of a domain."""

import dataclasses

import numpy as np
from jaxtyping import Bool

from meshes.mesh import Mesh
from meshes.tables import boundary


def with_sides(mesh: Mesh, sides: dict[str, Bool[np.ndarray, " _n"]]) -> Mesh:
    """The mesh with a group of boundary facets for each name: those whose vertices the mask all holds."""
    rows = boundary(mesh)
    return dataclasses.replace(
        mesh, groups={**mesh.groups, **{n: rows[mask[rows].all(axis=1)] for n, mask in sides.items()}}
    )


def box_sides(mesh: Mesh, side: float) -> Mesh:
    """The mesh of [0, side]^d with its sides named."""
    names = (("left", "right"), ("lower", "upper"), ("back", "front"))
    near = 1e-9 * side
    masks = {}
    for axis, (low, high) in enumerate(names[: mesh.points.shape[1]]):
        masks |= {low: mesh.points[:, axis] < near, high: mesh.points[:, axis] > side - near}
    return with_sides(mesh, masks)


def polygon(corners: np.ndarray, resolution: int) -> np.ndarray:
    """A closed polygon with `resolution` equal edges on each side."""
    share = np.arange(resolution)[:, None] / resolution
    ends = np.roll(corners, -1, axis=0)
    return np.concatenate([(1 - share) * a + share * b for a, b in zip(corners, ends, strict=True)])
