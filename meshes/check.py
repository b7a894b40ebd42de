"""What a mesh is and what is wrong with it: counts, exact topology, sizes, and every defect with its place."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Int8

from meshes.defects import RULES, Defect, Facts, meaning, signs
from meshes.geometry import scaled
from meshes.manifold import boundary_loops, components, joints, patches
from meshes.mesh import Mesh
from meshes.sizes import closed, sizes
from meshes.tables import Tables, boundary_rows, cofacets, collapsed, complement, tables, with_cells, within
from meshes.topology import betti_of


@dataclasses.dataclass(frozen=True, eq=False)
class Report:
    """What `check` found. Numbers that are not defined are None, with the reason in `reasons` under the same name.

    `edges`, `faces`, `tets` count distinct simplices. `area` is that of the triangles, or of the boundary of
    tetrahedra; `signed_volume` that of the tetrahedra as listed, or what a closed surface encloses, negative where it
    is inside out; `volume` the sum of absolute volumes of tetrahedra. `cell_orientation` is the sign of each cell whose
    dimension is that of space. `facets` counts facets (edges of triangles, faces of tetrahedra) of one, two and more
    cells.
    """

    degree: int
    dimension: int
    vertices: int
    edges: int
    faces: int
    tets: int
    euler: int | None
    betti: tuple[int, ...] | None
    betti_relative: tuple[int, ...] | None
    genus: int | None
    components: int | None
    boundary_components: int | None
    boundary_loops: int | None
    orientable: bool | None
    orientation: str
    cell_orientation: Int8[np.ndarray, " _m"]
    length: float | None
    area: float | None
    signed_area: float | None
    volume: float | None
    signed_volume: float | None
    facets: dict[str, int]
    worst_quality: float
    groups: dict[str, tuple[int, int]]
    defects: dict[str, Defect]
    reasons: dict[str, str]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True when no defect was found but those of the dual (obtuse angles), which only some methods mind."""
        return all(not d.count for name, d in self.defects.items() if name != "negative_duals")


def check(mesh: Mesh) -> Report:
    """Count, measure and find the defects of a mesh; any complex is accepted.

    >>> import meshes
    >>> found = check(meshes.torus(8))
    >>> found.betti, found.genus, found.orientation, found.ok
    ((1, 2, 1), 1, 'outward', True)
    """
    broken = collapsed(mesh)
    sound = complement(len(mesh.cells), broken)
    small, unit = scaled(mesh)
    defects = {"collapsed_cells": Defect(len(broken), broken, "cells that repeat a vertex; repair drops them")}
    if not len(sound):
        none = {rule.__name__.strip("_"): Defect(0, broken[:0], meaning(rule)) for rule in RULES}
        return _hopeless(mesh, defects | none)
    small = with_cells(small, sound)
    made = tables(small)
    joined = joints(made)
    facts = Facts(mesh, small, unit, sound, made, joined, patches(made, joined))
    for rule in RULES:
        where = rule(facts)
        defects[rule.__name__.strip("_")] = Defect(len(where), where, meaning(rule))
    return _report(mesh, facts, defects)


def _hopeless(mesh: Mesh, defects: dict[str, Defect]) -> Report:
    """The report of a mesh whose every cell repeats a vertex."""
    why = "every cell repeats a vertex"
    undefined: dict[str, Any] = {f.name: None for f in dataclasses.fields(Report) if "None" in str(f.type)}
    return Report(
        **{**undefined, "reasons": dict.fromkeys(undefined, why)},
        degree=mesh.degree,
        dimension=mesh.points.shape[1],
        vertices=len(mesh.points),
        edges=0,
        faces=0,
        tets=0,
        orientation="none",
        cell_orientation=np.zeros(len(mesh.cells), np.int8),
        facets={"1": 0, "2": 0, "more": 0},
        worst_quality=0.0,
        groups={name: (rows.shape[1] - 1, len(rows)) for name, rows in mesh.groups.items()},
        defects=defects,
        notes=mesh.notes,
    )


def _report(mesh: Mesh, facts: Facts, defects: dict[str, Defect]) -> Report:
    made, reasons = facts.made, {}
    counts = [len(s) for s in made.simplices] + [0, 0, 0]
    per = np.bincount(np.minimum(cofacets(made), 3), minlength=4)
    sign = np.zeros(len(mesh.cells), np.int8)
    sign[facts.sound] = signs(facts)
    topology = _topology(facts, defects, reasons)
    return Report(
        degree=mesh.degree,
        dimension=mesh.points.shape[1],
        vertices=counts[0],
        edges=counts[1],
        faces=counts[2],
        tets=counts[3],
        **topology,
        orientation=_orientation(facts, defects, sign),
        cell_orientation=sign,
        **sizes(facts, reasons),
        facets={"1": int(per[1]), "2": int(per[2]), "more": int(per[3])},
        worst_quality=float(np.abs(facts.shapes).min()),
        groups={name: (rows.shape[1] - 1, len(rows)) for name, rows in mesh.groups.items()},
        defects=defects,
        reasons=reasons,
        notes=mesh.notes,
    )


def _topology(facts: Facts, defects: dict[str, Defect], reasons: dict[str, str]) -> dict[str, Any]:
    """Exact integers, or None with a reason."""
    names = (
        "euler",
        "betti",
        "betti_relative",
        "genus",
        "components",
        "boundary_components",
        "boundary_loops",
        "orientable",
    )
    if broken := defects["collapsed_cells"].count:
        reasons.update(dict.fromkeys(names, f"{broken} cells repeat a vertex; repair drops them"))
        return dict.fromkeys(names)
    made = facts.made
    edge = boundary_rows(made, np.flatnonzero(cofacets(made) == 1))
    absolute = betti_of(made, within(made, edge[:0], "nothing"))
    loops, why = boundary_loops(made, facts.joined)
    if why:
        reasons["boundary_loops"] = why
    orientable = bool(facts.patches.orientable.all())
    genus, why = _genus(made, defects, orientable, absolute[0], loops)
    if why:
        reasons["genus"] = why
    return {
        "euler": made.euler,
        "betti": absolute,
        "betti_relative": betti_of(made, within(made, edge, "the boundary")) if len(edge) else absolute,
        "genus": genus,
        "components": absolute[0],
        "boundary_components": _parts(edge),
        "boundary_loops": loops,
        "orientable": orientable,
    }


def _parts(rows: np.ndarray) -> int:
    """Number of connected parts of a complex of given simplices."""
    vertex, number = np.unique(rows, return_inverse=True)
    number = number.reshape(rows.shape)
    pairs = [number[:, [i, i + 1]] for i in range(rows.shape[1] - 1)] or [np.zeros((0, 2), np.int64)]
    return components(len(vertex), *np.concatenate(pairs).T)[0] if len(vertex) else 0


def _genus(
    made: Tables, defects: dict[str, Defect], orientable: bool, parts: int, loops: int | None
) -> tuple[int | None, str | None]:
    """Genus g of 2 - 2 g - loops = chi, or the reason why there is none."""
    if made.degree != 2:
        return None, "genus is that of surfaces"
    if rows := defects["non_manifold_facets"].where.tolist():
        return None, f"not a surface: edge {rows[0]} has three or more triangles ({len(rows)} such edges)"
    if rows := defects["non_manifold_vertices"].where.tolist():
        return None, f"not a surface: at vertex {rows[0]} it only touches itself ({len(rows)} such vertices)"
    if not orientable:
        return None, "not orientable"
    if loose := defects["unreferenced_vertices"].count:
        return None, f"{loose} vertices are in no triangle; repair drops them"
    if parts != 1:
        return None, f"{parts} components; each has a genus of its own"
    assert loops is not None
    return (2 - loops - made.euler) // 2, None


def _orientation(facts: Facts, defects: dict[str, Defect], sign: np.ndarray) -> str:
    """In words: how the cells are turned."""
    if defects["non_orientable_patches"].count:
        return "not orientable"
    words = {2: ("counter-clockwise", "clockwise"), 3: ("positive", "inside out")}
    if facts.mesh.degree > 1 and np.any(sign):
        up, down = words[facts.mesh.degree]
        return down if not np.any(sign > 0) else "mixed" if np.any(sign < 0) else up
    if defects["inconsistent_facets"].count:
        return "mixed"
    if facts.mesh.degree == 2 and facts.mesh.points.shape[1] == 3 and facts.mesh.lengths is None and closed(facts):
        return "inside out" if defects["inside_out"].count else "outward"
    return "consistent"


def summary(report: Report) -> dict:
    """The report as plain data for JSON: counts in `defects`, the first hundred places of each in `where`."""
    plain = {f.name: getattr(report, f.name) for f in dataclasses.fields(report)}
    del plain["cell_orientation"]
    signs = report.cell_orientation
    return plain | {
        "cell_orientation": {"positive": int((signs > 0).sum()), "negative": int((signs < 0).sum())},
        "betti": None if report.betti is None else list(report.betti),
        "betti_relative": None if report.betti_relative is None else list(report.betti_relative),
        "groups": {name: {"degree": d, "count": n} for name, (d, n) in report.groups.items()},
        "defects": {name: d.count for name, d in report.defects.items()},
        "where": {n: d.where[:100].tolist() for n, d in report.defects.items() if d.count},
        "notes": list(report.notes),
        "ok": report.ok,
    }
