"""The closed orientable surface of any genus."""

from meshes.change import orient, repair
from meshes.layout import Layout, Structured
from meshes.mesh import Mesh
from meshes.refine import refine, whole_number
from meshes.shapes.cube import blocks
from meshes.shapes.topology import Topology
from meshes.tables import boundary

TOPOLOGY = Topology(betti=(1, 4, 1), relative=(1, 4, 1), measure=2.0 * (15 - 2) + 2 * (5 + 3) + 4 * 2)


def genus(resolution: int, *, holes: int = 2, layout: Layout = Structured()) -> Mesh:
    """The surface of a plate of unit cubes with `holes` square holes, `resolution` edges a unit; its genus is `holes`.

    The plate has 2 * holes + 1 by 3 by 1 cubes (3 by 3 by 1 without a hole). Wound outwards; area 16 holes + 10 from
    one hole on.

    >>> import meshes
    >>> meshes.betti(genus(1, holes=3))
    (1, 6, 1)
    """
    whole_number(resolution, "resolution")
    whole_number(holes, "holes", 0)
    if not isinstance(layout, Structured):
        raise ValueError(f"got the layout {layout}; expected Structured for a surface with edges and corners")
    wide = max(2 * holes + 1, 3)
    kept = [(i, j, 0) for i in range(wide) for j in range(3) if not (holes and j == 1 and i % 2 == 1)]
    plate = blocks(kept)
    skin = repair(Mesh(plate.points, boundary(plate))).mesh
    return orient(refine(Mesh(skin.points, skin.cells), resolution)).mesh
