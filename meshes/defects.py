"""The defects a mesh can have, each found by one rule."""

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from meshes.change import places
from meshes.enclosure import inside_out
from meshes.geometry import EPS, cell_lengths, dual_lengths, flat_points, measures, quality, quality_by_lengths
from meshes.manifold import Fans, Joints, Patches, fans
from meshes.mesh import Mesh
from meshes.tables import Tables, cofacets, complement, find, first_of

NEEDLE = 0.01  # quality below which a cell is called a needle or a sliver


class Defect(NamedTuple):
    """One kind of defect: how many, where (cell or vertex numbers, or rows of vertex numbers), and what it means."""

    count: int
    where: Int[np.ndarray, "..."]
    meaning: str


@dataclasses.dataclass(frozen=True, eq=False)
class Facts:
    """A mesh shrunk to size 1, its sound cells (those that repeat no vertex) and what was derived from them."""

    given: Mesh
    mesh: Mesh
    unit: float
    sound: Int[np.ndarray, " _m"]
    made: Tables
    joined: Joints
    patches: Patches

    @functools.cached_property
    def vertex_fans(self) -> Fans:
        return fans(self.made, self.joined, 0)

    @functools.cached_property
    def shapes(self) -> np.ndarray:
        """Quality of each listed sound cell."""
        if self.mesh.lengths is None:
            return quality(self.mesh.points, self.mesh.cells)
        return quality_by_lengths(cell_lengths(self.mesh, self.made))[self.made.cell]

    @functools.cached_property
    def floor(self) -> np.ndarray:
        """Quality that rounding of the coordinates can produce in a flat cell, by the size of the cell."""
        if self.mesh.lengths is not None:
            return np.full(len(self.mesh.cells), 64 * EPS)
        corner = self.mesh.points[self.mesh.cells]
        size = np.max(np.ptp(corner, axis=1), axis=1)
        return 16 * EPS / np.maximum(size, 1e-290)

    @functools.cached_property
    def listed(self) -> np.ndarray:
        """Where each simplex of degree k is listed first among the sound cells."""
        return first_of(self.made.cell, len(self.made.simplices[-1]))

    @functools.cached_property
    def cell_sign(self) -> np.ndarray:
        """Parity of the listing of each simplex of degree k (of the last one that lists it)."""
        sign = np.ones(len(self.made.simplices[-1]), np.int64)
        sign[self.made.cell] = self.made.sign
        return sign


def signs(facts: Facts) -> np.ndarray:
    """Sign of each sound cell where the cells have the dimension of space (or lie in a plane z = const), else zeros."""
    points = flat_points(facts.mesh)
    if facts.mesh.lengths is not None or points.shape[1] != facts.mesh.degree:
        return np.zeros(len(facts.sound), np.int8)
    size = measures(points, facts.mesh.cells)
    return np.where(np.abs(facts.shapes) <= facts.floor, 0, np.sign(size)).astype(np.int8)


# Each rule returns the places of one defect; its name and docstring are what the report shows.


def _unreferenced_vertices(facts: Facts) -> np.ndarray:
    """vertices in no cell"""
    used = np.zeros(len(facts.mesh.points), bool)
    used[facts.mesh.cells] = True
    return np.flatnonzero(~used)


def _duplicate_vertices(facts: Facts) -> np.ndarray:
    """vertices at the place of an earlier one; weld merges them"""
    if facts.mesh.lengths is not None:
        return np.zeros(0, np.int64)
    return complement(len(facts.given.points), places(facts.given.points)[0])


def _duplicate_cells(facts: Facts) -> np.ndarray:
    """cells with the vertices of an earlier one; repair drops them"""
    return facts.sound[complement(len(facts.sound), facts.listed)]


def _flat_cells(facts: Facts) -> np.ndarray:
    """cells of zero length, area or volume, to the rounding of their coordinates"""
    return facts.sound[np.abs(facts.shapes) <= facts.floor]


def _needle_cells(facts: Facts) -> np.ndarray:
    """cells of quality below 0.01 (needles, caps, slivers), 1 being the regular one"""
    size = np.abs(facts.shapes)
    return facts.sound[(size > facts.floor) & (size < NEEDLE)]


def _non_manifold_facets(facts: Facts) -> np.ndarray:
    """facets (edges of triangles, faces of tetrahedra) of three or more cells"""
    return facts.made.simplices[-2][cofacets(facts.made) > 2]


def _non_manifold_vertices(facts: Facts) -> np.ndarray:
    """vertices whose cells do not form one disc or half-disc (ball or half-ball) about them"""
    fan = facts.vertex_fans
    number = np.bincount(fan.owner, minlength=len(facts.mesh.points))
    if facts.made.degree == 1:
        return np.zeros(0, np.int64)
    bad = number > 1
    bad[facts.made.simplices[-2][cofacets(facts.made) > 2]] = True
    if facts.made.degree == 3:
        bad |= _bad_links(facts, number)
    return np.flatnonzero(bad)


def _bad_links(facts: Facts, number: np.ndarray) -> np.ndarray:
    """Vertices of one fan of tetrahedra whose link is neither a sphere (chi = 2, closed) nor a disc (chi = 1, open)."""
    made = facts.made
    at = [np.bincount(s.ravel(), minlength=len(number)) for s in made.simplices]
    euler = at[1] - at[2] + at[3]
    open_ = np.zeros(len(number), bool)
    open_[made.simplices[2][cofacets(made) == 1]] = True
    return (number == 1) & (euler != np.where(open_, 1, 2))


def _non_manifold_edges(facts: Facts) -> np.ndarray:
    """edges about which tetrahedra do not form one fan"""
    if facts.made.degree != 3:
        return np.zeros((0, 2), np.int64)
    number = np.bincount(fans(facts.made, facts.joined, 1).owner, minlength=len(facts.made.simplices[1]))
    return facts.made.simplices[1][number > 1]


def _inconsistent_facets(facts: Facts) -> np.ndarray:
    """facets whose two cells are wound against each other, in patches that could be consistent; orient turns cells"""
    bad = facts.cell_sign[facts.joined.cells].prod(axis=1) != facts.joined.fit
    bad &= facts.patches.orientable[facts.patches.label[facts.joined.cells[:, 0]]]
    return facts.made.simplices[-2][facts.joined.facet[bad]]


def _non_orientable_patches(facts: Facts) -> np.ndarray:
    """patches that no choice of turns makes consistent, by their first cell"""
    first = first_of(facts.patches.label, len(facts.patches.orientable))
    return facts.sound[facts.listed[first[~facts.patches.orientable]]]


def _inverted_cells(facts: Facts) -> np.ndarray:
    """cells of negative area or volume (clockwise triangles in the plane, left-handed tetrahedra)"""
    return facts.sound[signs(facts) < 0] if facts.mesh.degree > 1 else np.zeros(0, np.int64)


def _inside_out(facts: Facts) -> np.ndarray:
    """closed surfaces wound inwards (outwards, for the wall of a cavity), by their first cell"""
    if facts.mesh.degree != 2 or facts.mesh.points.shape[1] != 3 or facts.mesh.lengths is not None:
        return np.zeros(0, np.int64)
    turn = facts.patches.turn * facts.cell_sign
    label = facts.patches.label
    first = first_of(label, len(facts.patches.orientable))
    agree = np.bincount(label, weights=turn * turn[first][label]) == np.bincount(label)
    wound = inside_out(facts.mesh.points, facts.made, facts.patches, facts.patches.turn * turn[first][label])
    return facts.sound[facts.listed[first[wound & agree]]]


def _negative_duals(facts: Facts) -> np.ndarray:
    """facets of negative circumcentric dual (an edge that is not Delaunay, a boundary edge facing an obtuse angle)"""
    if facts.made.degree == 1:
        return np.zeros((0, 1), np.int64)
    return facts.made.simplices[-2][dual_lengths(facts.mesh, facts.made) < -1e-10]


def _stray_group_rows(facts: Facts) -> np.ndarray:
    """rows of groups that are no simplices of the cells, by the vertex rows (padded with -1)"""
    rows = [np.zeros((0, 4), np.int64)]
    for group in facts.mesh.groups.values():
        stray = group[find(facts.made.simplices[group.shape[1] - 1], group) < 0]
        rows.append(np.pad(stray, ((0, 0), (0, 4 - stray.shape[1])), constant_values=-1))
    return np.concatenate(rows)


RULES: tuple[Callable[[Facts], np.ndarray], ...] = (
    _unreferenced_vertices,
    _duplicate_vertices,
    _duplicate_cells,
    _flat_cells,
    _needle_cells,
    _non_manifold_facets,
    _non_manifold_edges,
    _non_manifold_vertices,
    _inconsistent_facets,
    _non_orientable_patches,
    _inverted_cells,
    _inside_out,
    _negative_duals,
    _stray_group_rows,
)


def meaning(rule: Callable[[Facts], np.ndarray]) -> str:
    """What a rule's defect means, from its docstring."""
    return " ".join(str(rule.__doc__).split())
