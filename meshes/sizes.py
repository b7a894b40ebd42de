"""Lengths, areas and volumes of a mesh, signed where that means something."""

from typing import Any

import numpy as np

from meshes.defects import Facts
from meshes.geometry import cell_measures, flat_points, measures
from meshes.tables import boundary_rows, cofacets


def sizes(facts: Facts, reasons: dict[str, str]) -> dict[str, Any]:
    """Length, areas and volumes in the units of the mesh."""
    degree, unit = facts.mesh.degree, facts.unit
    size = cell_measures(facts.mesh)
    flat = flat_points(facts.mesh)
    signed = flat.shape[1] == degree and facts.mesh.lengths is None
    total = float(np.abs(size).sum())
    found: dict[str, float | None] = dict.fromkeys(("length", "area", "signed_area", "volume", "signed_volume"))
    why = dict.fromkeys(found, f"a mesh of degree {degree} has none")
    if degree == 1:
        found["length"] = total
    elif degree == 2:
        found["area"] = total
        found["signed_area"] = float(measures(flat, facts.mesh.cells).sum()) if signed else None
        why["signed_area"] = "only triangles in a plane z = const have a signed area"
        found["signed_volume"], why["signed_volume"] = _enclosed(facts)
    else:
        found["volume"] = total
        found["signed_volume"] = float(size.sum()) if signed else None
        why["signed_volume"] = "only tetrahedra in three dimensions have a signed volume"
        found["area"] = _boundary_area(facts)
        why["area"] = "the boundary of tetrahedra given by edge lengths is not measured"
    powers = {"length": 1, "area": 2, "signed_area": 2, "volume": 3, "signed_volume": 3}
    for name, value in found.items():
        if value is not None:
            real = value
            for _ in range(powers[name]):
                real *= unit
            found[name] = real if np.isfinite(real) and (real or not value) else None
            why[name] = f"it {'under' if real == 0 else 'over'}flows double precision"
        if found[name] is None:
            reasons[name] = why[name]
    return found


def closed(facts: Facts) -> bool:
    """True when the cells as listed have no boundary: it cancels at each facet."""
    top = facts.made.facets[-1]
    weights = (facts.cell_sign[:, None] * (-1) ** np.arange(top.shape[1])).ravel()
    return not np.any(np.bincount(top.ravel(), weights=weights, minlength=len(facts.made.simplices[-2])))


def _boundary_area(facts: Facts) -> float | None:
    if facts.mesh.lengths is not None:
        return None
    edge = boundary_rows(facts.made, np.flatnonzero(cofacets(facts.made) == 1))
    return float(np.abs(measures(facts.mesh.points, edge)).sum()) if facts.mesh.points.shape[1] == 3 else None


def _enclosed(facts: Facts) -> tuple[float | None, str]:
    """Signed volume that a surface encloses, or None and the reason."""
    if facts.mesh.points.shape[1] != 3 or facts.mesh.lengths is not None:
        return None, "only surfaces in three dimensions enclose a volume"
    if len(facts.listed) < len(facts.sound):
        return None, "cells are listed twice; repair drops them"
    if not closed(facts):
        return None, "the surface is not closed, or not wound consistently"
    a, b, c = (facts.mesh.points[facts.mesh.cells[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6), ""
