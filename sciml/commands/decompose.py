"""Split a cochain on a mesh: python -m sciml decompose MESH --cochain W.npy [--degree K]."""

import dataclasses
import enum
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from sciml.commands.base import Outcome, Usage, parse


class Boundary(enum.Enum):
    """Conditions at the boundary: natural ones, or cochains that vanish there."""

    absolute = "absolute"
    relative = "relative"


@dataclasses.dataclass(frozen=True)
class DecomposeOptions:
    """The exact, coexact and harmonic parts of a cochain on a mesh, with a picture.

    The cochain is a .npy array of one finite number for each simplex of its degree, simplices in lexicographic order of
    their ascending vertex numbers: numpy rows of meshes.tables(mesh).simplices[degree].
    """

    mesh: Annotated[str, tyro.conf.Positional]
    """The mesh file."""
    cochain: str | None = None
    """The .npy file of the cochain."""
    degree: int | None = None
    """Degree of the cochain; found by its size if not given."""
    boundary: Boundary = Boundary.absolute
    """Natural conditions, or zero on the boundary."""
    one_based: bool = False
    """Text mesh files count vertices from 1."""
    out: str | None = None
    """Save the parts, potentials and harmonic basis here (.npz)."""
    picture: str | None = None
    """Where to draw the parts; runs/NAME-parts.png by default."""
    json: bool = False
    """Print one JSON object on stdout."""


def run(arguments: list[str]) -> Outcome:
    """Read, decompose, save, draw."""
    options = parse(DecomposeOptions, arguments, "python -m sciml decompose", str(DecomposeOptions.__doc__))
    if options.cochain is None:
        raise Usage("got no --cochain; expected the .npy file of a cochain")
    import jax.numpy as jnp

    import meshes
    from sciml import hodge
    from sciml.hodge.decompose import quality
    from sciml.report.environment import require_float64
    from sciml.report.hodgeview import draw_parts

    require_float64()
    mesh = meshes.read(options.mesh, one_based=options.one_based)
    complex_ = hodge.build(mesh, relative="boundary" if options.boundary is Boundary.relative else None)
    values = jnp.asarray(load_cochain(Path(options.cochain)))
    degree = _degree(options.degree, [complex_.count(p) for p in range(complex_.degree + 1)], len(values))
    parts = hodge.decompose(complex_, values, degree)
    found = quality(complex_, values, parts, degree)
    named = {"input": values, "exact": parts.exact, "coexact": parts.coexact, "harmonic": parts.harmonic}
    picture = Path(options.picture or f"runs/{Path(options.mesh).stem}-parts.png")
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw_parts(picture, complex_, degree, {n: np.asarray(v) for n, v in named.items()})
    if options.out:
        save_parts(Path(options.out), {f: np.asarray(v) for f, v in parts._asdict().items()})
    return (
        0,
        _text(found, parts, picture, options.out),
        {
            "norms": {n: found[n] for n in ("exact", "coexact", "harmonic")},
            "harmonic_dimension": parts.basis.shape[1],
            "orthogonality": found["orthogonality"],
            "reconstruction": found["reconstruction"],
            "degree": degree,
            "boundary": options.boundary.value,
            "picture": str(picture),
            "out": options.out,
        },
    )


def _degree(given: int | None, counts: list[int], size: int) -> int:
    """The degree asked for, or the only one with so many simplices."""
    if given is not None:
        return given
    fits = [p for p, count in enumerate(counts) if count == size]
    if len(fits) != 1:
        raise ValueError(
            f"got a cochain of {size} values on a mesh of {', '.join(map(str, counts))} simplices of degree 0, 1, ...; "
            f"expected one of these sizes{', or --degree to choose' if fits else ''}"
        )
    return fits[0]


def load_cochain(path: Path) -> np.ndarray:
    """A vector of finite numbers from a .npy file, without unpickling; ValueError for anything else."""
    try:
        held = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        said = str(error).splitlines()[0]
        raise ValueError(f"got {path}, which does not load ({said}); expected a .npy array") from None
    if not isinstance(held, np.ndarray) or held.ndim != 1 or held.dtype.kind not in "fiu":
        shape = getattr(held, "shape", "several arrays")
        raise ValueError(f"got {path} of shape {shape}; expected a .npy array of one real number a simplex")
    values = np.array(held, np.float64)
    if not np.all(np.isfinite(values)):
        raise ValueError(f"got {path} with {np.sum(~np.isfinite(values))} values that are not finite")
    return values


def save_parts(path: Path, parts: dict[str, np.ndarray]) -> None:
    """The arrays as one .npz file, whole or not at all."""
    from sciml.report.store import write_atomically

    if path.suffix != ".npz":
        raise ValueError(f"got --out {path}; expected a name that ends in .npz")
    write_atomically(path, lambda file: np.savez(file, allow_pickle=False, **parts))


def _text(found: dict[str, float], parts, picture: Path, out: str | None) -> str:
    from sciml.report.table import table

    rows = [(f"norm, {n}", f"{found[n]:.9g}") for n in ("exact", "coexact", "harmonic")]
    rows += [("harmonic dimension", str(parts.basis.shape[1]))]
    rows += [(f"{n} (relative)", f"{found[n]:.2e}") for n in ("orthogonality", "reconstruction")]
    rows += [("picture", str(picture)), *([("parts", out)] if out else [])]
    return table(rows)
