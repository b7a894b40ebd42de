"""What a shape is: its right topology and size, which the contract tests hold its meshes to."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Topology:
    """Betti numbers (rational), absolute and relative to the boundary, and the size of the smooth shape.

    `measure` is the length, area or volume that meshes converge to at second order, None where no closed form is known;
    `gf2` are the Betti numbers over the field of two elements where they differ.
    """

    betti: tuple[int, ...]
    relative: tuple[int, ...]
    measure: float | None
    orientable: bool = True
    gf2: tuple[int, ...] | None = None
