"""The oriented simplicial complex of a mesh as arrays, with its inner products."""

import warnings

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int8, Int32

import meshes
from meshes.manifold import components, corners
from meshes.tables import first_of, within
from meshes.topology import part
from sciml.hodge.sparse import Pattern, Sparse, assembled, pattern, sparse
from sciml.hodge.whitney import Geometry, from_lengths, from_points, local_mass, local_star, local_stiffness


class Complex(eqx.Module):
    """Simplices of degrees 0 .. k, their incidence, boundary condition and inner products; an argument of every verb.

    A p-cochain is an array over `simplices[p]`: vertices ascending, rows in lexicographic order, oriented ascending.
    Batches are further axes. `facets[p]` has in column i the facet without vertex i, of sign (-1)^i. `keep[p]` is False
    on the simplices of the part that the complex is relative to, where cochains vanish. `mass[p]` and `stiffness[p]` =
    d' M_{p+1} d are those of Whitney forms. `pins` are one vertex of every component without a vertex of the part.
    """

    simplices: tuple[Int32[Array, "_n _j"], ...]
    facets: tuple[Int32[Array, "_n _j"], ...]
    transpose: tuple[Sparse, ...]
    corners: tuple[Int32[Array, "_m _c"], ...]
    keep: tuple[Bool[Array, " _n"], ...]
    component: Int32[Array, " _n"]
    pins: Bool[Array, " _n"]
    cell_sign: Int8[Array, " _m"]
    patterns: tuple[Pattern, ...]
    places: tuple[Int32[Array, " _e"], ...]
    points: Float[Array, "_n _d"]
    lengths: Float[Array, " _e"] | None
    mass: tuple[Sparse, ...]
    stiffness: tuple[Sparse, ...]
    components: int = eqx.field(static=True)

    @property
    def degree(self) -> int:
        """Degree of the cells."""
        return len(self.simplices) - 1

    def count(self, degree: int) -> int:
        """Number of simplices of a degree."""
        return len(self.simplices[degree])


def build(mesh: meshes.Mesh, *, relative: str | np.ndarray | None = None) -> Complex:
    """The complex of a mesh, relative to a part of it: a group name, "boundary", or rows of vertex indices.

    Without a part, boundary conditions are natural (absolute); relative to the boundary they are essential (cochains
    vanish there). Raises ValueError where a cell repeats a vertex or the part is none of the mesh, and for flat cells
    by number.

    >>> import meshes
    >>> build(meshes.square(2)).count(1)
    16
    """
    made = meshes.tables(mesh)
    _refuse_flat(mesh)
    gone = within(made, part(mesh, relative), "the part")
    faces = [corners(made, p) for p in range(made.degree + 1)]
    laid = [_local_pattern(faces[p], len(made.simplices[p])) for p in range(made.degree)]
    count, component = components(len(mesh.points), *made.facets[1].T)
    touched = np.zeros(count, bool)
    touched[component[gone[0]]] = True
    pins = np.zeros(len(mesh.points), bool)
    pins[first_of(component, count)[~touched]] = True
    sign = np.ones(len(made.simplices[-1]), np.int8)
    sign[made.cell] = made.sign
    diagonal = pattern(np.arange(len(sign)), np.arange(len(sign)), (len(sign), len(sign)))
    bare = Complex(
        simplices=tuple(_int(s) for s in made.simplices),
        facets=tuple(_int(f) for f in made.facets),
        transpose=tuple(_transpose(made.facets[p + 1], len(made.simplices[p])) for p in range(made.degree)),
        corners=tuple(_int(f) for f in faces),
        keep=tuple(jnp.asarray(~g) for g in gone),
        component=_int(component),
        pins=jnp.asarray(pins),
        cell_sign=jnp.asarray(sign),
        patterns=(*(p for p, _ in laid), diagonal[0]),
        places=(*(jnp.asarray(place) for _, place in laid), jnp.asarray(diagonal[1])),
        points=jnp.asarray(mesh.points),
        lengths=None if mesh.lengths is None else jnp.asarray(mesh.lengths),
        mass=(),
        stiffness=(),
        components=count,
    )
    return measured(bare, bare.points) if bare.lengths is None else measured_by_lengths(bare, bare.lengths)


def _refuse_flat(mesh: meshes.Mesh) -> None:
    """ValueError naming the cells without a measure, whose inner products do not exist."""
    from meshes.geometry import cell_measures, scaled

    size = np.abs(cell_measures(scaled(mesh)[0]))
    flat = np.flatnonzero(~(size > 0))
    if flat.size:
        raise ValueError(
            f"got {flat.size} flat cells (the first is {flat[0]} = {mesh.cells[flat[0]].tolist()}); expected cells "
            "with a measure: meshes.repair(mesh, tolerance=...) merges points that nearly coincide"
        )


def _int(array: np.ndarray) -> Int32[Array, "..."]:
    return jnp.asarray(array.astype(np.int32))


def _local_pattern(faces: np.ndarray, count: int) -> tuple[Pattern, np.ndarray]:
    """The pattern of a matrix assembled from cells, and the place of each local entry."""
    width = faces.shape[1]
    rows = np.repeat(faces, width, axis=1).ravel()
    columns = np.tile(faces, (1, width)).ravel()
    return pattern(rows, columns, (count, count))


def _transpose(facets: np.ndarray, count: int) -> Sparse:
    """The transposed differential, a matrix of signs."""
    rows = facets.ravel()
    columns = np.repeat(np.arange(len(facets)), facets.shape[1])
    made, place = pattern(rows, columns, (count, len(facets)))
    signs = np.zeros(made.size, np.int8)
    signs[place] = np.tile(np.where(np.arange(facets.shape[1]) % 2, -1, 1), len(facets))
    return sparse(made, jnp.asarray(signs))


@eqx.filter_jit
def measured(complex_: Complex, points: Float[Array, "n _d"]) -> Complex:
    """The same complex with its vertices elsewhere; differentiable in the points."""
    geometry = from_points(points, complex_.corners[0])
    return _with_geometry(eqx.tree_at(lambda c: c.points, complex_, points), geometry)


@eqx.filter_jit
def measured_by_lengths(complex_: Complex, lengths: Float[Array, " e"]) -> Complex:
    """The same complex with edges of other lengths; differentiable in the lengths."""
    geometry = from_lengths(lengths[complex_.corners[1]])
    place = eqx.tree_at(lambda c: c.lengths, complex_, lengths, is_leaf=lambda leaf: leaf is None)
    return _with_geometry(place, geometry)


def _with_geometry(complex_: Complex, geometry: Geometry) -> Complex:
    return _with_local(complex_, [local_mass(geometry, p) for p in range(complex_.degree + 1)])


def _with_local(complex_: Complex, local: list[Float[Array, "_m _f _f"]]) -> Complex:
    """The complex with masses and stiffness matrices assembled from local inner products, one for each degree."""
    degree = complex_.degree
    fill = lambda p, entries: assembled(complex_.patterns[p], complex_.places[p], entries.ravel())  # noqa: E731
    masses = tuple(fill(p, local[p]) for p in range(degree + 1))
    stiffness = tuple(fill(p, local_stiffness(local[p + 1], degree, p)) for p in range(degree))
    return eqx.tree_at(lambda c: (c.mass, c.stiffness), complex_, (masses, stiffness))


def circumcentric(complex_: Complex) -> Complex:
    """The complex with signed circumcentric stars, which are diagonal, in place of Whitney masses.

    Warns with the number and the first of the zero and negative entries of each degree: there the star is no inner
    product, and solves and spectra mean nothing. They occur at right angles (zero) and on meshes that are not Delaunay
    (negative).
    """
    made, stars = _circumcentric(complex_)
    found = []
    for degree, star in enumerate(stars):
        size = float(jnp.max(jnp.abs(star)))
        negative = np.flatnonzero(np.asarray(star < -1e-12 * size))
        zero = np.flatnonzero(np.asarray(jnp.abs(star) <= 1e-12 * size))
        for word, where in (("negative", negative), ("zero", zero)):
            if where.size:
                first = complex_.simplices[degree][where[0]].tolist()
                found.append(f"{where.size} {word} of degree {degree} (first at {first})")
    if found:
        warnings.warn(
            f"circumcentric stars are not positive: {'; '.join(found)}; the Whitney masses of build() are", stacklevel=2
        )
    return made


@eqx.filter_jit
def _circumcentric(complex_: Complex) -> tuple[Complex, tuple[Float[Array, " _n"], ...]]:
    lengths = edge_lengths(complex_)[complex_.corners[1]]
    local = [local_star(lengths, p) for p in range(complex_.degree + 1)]
    sums = [
        jnp.zeros(complex_.count(p)).at[complex_.corners[p]].add(jnp.diagonal(local[p], axis1=1, axis2=2))
        for p in range(complex_.degree + 1)
    ]
    return _with_local(complex_, local), tuple(sums)


def edge_lengths(complex_: Complex) -> Float[Array, " _e"]:
    """Length of each edge."""
    if complex_.lengths is not None:
        return complex_.lengths
    tail, head = complex_.simplices[1].T
    return jnp.linalg.norm(complex_.points[head] - complex_.points[tail], axis=1)


def geometry_of(complex_: Complex) -> Geometry:
    """Measures of the cells."""
    if complex_.lengths is None:
        return from_points(complex_.points, complex_.corners[0])
    return from_lengths(complex_.lengths[complex_.corners[1]])


def numpy_tables(complex_: Complex) -> meshes.Tables:
    """The tables of the complex on the host."""
    cells = complex_.count(complex_.degree)
    return meshes.Tables(
        tuple(np.asarray(s).astype(np.int64) for s in complex_.simplices),
        tuple(np.asarray(f).astype(np.int64) for f in complex_.facets),
        np.arange(cells),
        np.asarray(complex_.cell_sign),
    )


def numpy_part(complex_: Complex) -> tuple[np.ndarray, ...]:
    """Masks of the part that the complex is relative to."""
    return tuple(~np.asarray(k) for k in complex_.keep)


def check_degree(complex_: Complex, degree: int, least: int = 0, most: int | None = None) -> None:
    """ValueError unless the degree is one of the complex."""
    most = complex_.degree if most is None else most
    if isinstance(degree, bool) or not isinstance(degree, int) or not least <= degree <= most:
        raise ValueError(f"got degree={degree!r}; expected a whole number from {least} to {most}")


def check_cochain(complex_: Complex, values: Float[Array, "..."], degree: int) -> None:
    """ValueError unless the array is a finite cochain of the degree (batches in further axes)."""
    check_degree(complex_, degree)
    if values.ndim < 1 or values.shape[0] != complex_.count(degree):
        fits = [str(p) for p in range(complex_.degree + 1) if values.ndim and values.shape[0] == complex_.count(p)]
        hint = f"; it has the size of degree {' and '.join(fits)}" if fits else ""
        raise ValueError(
            f"got an array of shape {values.shape} as a cochain of degree {degree}; expected {complex_.count(degree)} "
            f"values, one for each simplex{hint}"
        )
    if not bool(jnp.all(jnp.isfinite(values))):
        raise ValueError(f"got a cochain of degree {degree} with values that are not finite")
