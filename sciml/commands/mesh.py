"""Read a mesh, say what it is and what is wrong with it: python -m sciml mesh FILE [CELLS]."""

import dataclasses
from pathlib import Path
from typing import Annotated

import tyro

from sciml.commands.base import Outcome, Usage, parse


@dataclasses.dataclass(frozen=True)
class MeshOptions:
    """Counts, exact topology, sizes, orientation and every defect of a mesh file, with a picture."""

    file: Annotated[str, tyro.conf.Positional]
    """The mesh: .off .obj .ply .stl .msh .vtu, or a text file of points."""
    cells: Annotated[str | None, tyro.conf.Positional] = None
    """With a text file of points: the text file of vertex indices (X_triangles.txt is found for X_vertices.txt)."""
    one_based: bool = False
    """Text files count vertices from 1."""
    weld: bool = True
    """Merge equal corners of STL files."""
    orient: bool = False
    """Turn cells: positive, outward or consistent ones."""
    repair: bool = False
    """Weld, drop repeated cells and loose vertices, orient."""
    dimension: int | None = None
    """Coordinates wanted; last ones that are all zero are left out by default."""
    write: str | None = None
    """Write the mesh here, in the format of the suffix."""
    picture: str | None = None
    """Where to draw it; runs/NAME-mesh.png by default."""
    json: bool = False
    """Print one JSON object on stdout."""


def run(arguments: list[str]) -> Outcome:
    """Read, change if asked, check, draw, write."""
    options = parse(MeshOptions, arguments, "python -m sciml mesh", str(MeshOptions.__doc__))
    import meshes
    from meshes.check import summary
    from sciml.report.meshview import draw_mesh, mesh_table

    if options.orient and options.repair:
        raise Usage("got --orient together with --repair; repairing orients too, give one of them")
    mesh = meshes.read(
        options.file, options.cells, one_based=options.one_based, weld=options.weld, dimension=options.dimension
    )
    changes = {}
    if options.orient or options.repair:
        mesh, changed = (meshes.repair if options.repair else meshes.orient)(mesh)
        changes = {name: len(numbers) for name, numbers in changed.items()}
    report = meshes.check(mesh)
    picture = Path(options.picture or f"runs/{Path(options.file).stem}-mesh.png")
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw_mesh(picture, mesh, report)
    lost = meshes.write(mesh, options.write) if options.write else ()
    lines = [mesh_table(report), "", f"picture: {picture}"]
    lines += [f"written: {options.write}"] if options.write else []
    lines += [f"not written: {note}" for note in lost]
    value = summary(report) | {"file": options.file, "picture": str(picture), "written": options.write}
    return 0, "\n".join(lines), value | {"not_written": list(lost), "changes": changes}
