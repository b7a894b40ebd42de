"""Hodge theory on a torus from ten thousand to a million triangles, beside SciPy.

    OMP_NUM_THREADS=1 python benchmarks/hodge_speed.py [SMALLEST] [LARGEST]

Seconds include compilation. Prints build, cohomology, harmonic basis, decomposition of a random 1-form and their sum;
the product with the Laplacian of functions against SciPy's CSR; a Dirichlet energy as a function of the shape and its
gradient; the growth exponent of the sum in the number of cells.
"""

import math
import resource
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import meshes
from sciml import hodge
from sciml.hodge.decompose import quality


def timed(work):
    """Seconds of one call, and its value."""
    start = time.perf_counter()
    value = jax.block_until_ready(work())
    return time.perf_counter() - start, value


def median(work, repeats=9):
    """Median seconds after one call to compile."""
    work()
    return statistics.median(timed(work)[0] for _ in range(repeats))


@jax.jit
def product(matrix, x):
    """The matrix times the vector."""
    return matrix @ x


def energy(points, complex_, values):
    """A Dirichlet energy as a function of the shape."""
    return hodge.dirichlet_energy(hodge.measured(complex_, points), values, 0)


def row(side: int) -> tuple[int, float]:
    """Print one size; its number of cells and seconds."""
    mesh = meshes.torus(side, around=2 * side)
    build, complex_ = timed(lambda: hodge.build(mesh))
    topology, found = timed(lambda: hodge.cohomology(complex_))
    harmonic, basis = timed(lambda: hodge.harmonic_basis(complex_, 1, found=found))
    values = jnp.asarray(np.random.default_rng(0).normal(size=complex_.count(1)))
    split, parts = timed(lambda: hodge.decompose(complex_, values, 1, found=found, basis=basis))
    figures = quality(complex_, values, parts, 1)
    total = build + topology + harmonic + split
    matrix, x = complex_.stiffness[0], jnp.asarray(np.random.default_rng(1).normal(size=complex_.count(0)))
    csr, plain = matrix.scipy(), np.asarray(x)
    ours, theirs = median(lambda: product(matrix, x).block_until_ready()), median(lambda: csr @ plain)
    shape, slope = jax.jit(energy), jax.jit(jax.grad(energy))
    value = median(lambda: shape(complex_.points, complex_, x).block_until_ready(), 5)
    gradient = median(lambda: slope(complex_.points, complex_, x).block_until_ready(), 5)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{len(mesh.cells):8d}  build {build:5.2f}  cohomology {topology:5.2f}  harmonic {harmonic:5.2f}  "
        f"decompose {split:5.2f}  all {total:6.2f} s  orthogonality {figures['orthogonality']:.0e}  "
        f"sum {figures['reconstruction']:.0e}  Laplacian {1e3 * ours:6.2f} ms, SciPy {1e3 * theirs:6.2f} ms "
        f"({ours / theirs:.2f})  energy {value:.3f} s, gradient {gradient:.3f} s ({gradient / value:.1f})  "
        f"peak {peak:.2f} GiB",
        flush=True,
    )
    return len(mesh.cells), total


def main(smallest: int = 10_000, largest: int = 1_000_000) -> None:
    """Sizes a factor ten apart."""
    jax.config.update("jax_enable_x64", True)
    sizes = [smallest * 10**i for i in range(round(math.log10(largest / smallest)) + 1)]
    rows = [row(round(math.sqrt(size / 4))) for size in sizes]
    (cells, first), (more, last) = rows[0], rows[-1]
    if more > cells:
        print(f"growth exponent {math.log(last / first) / math.log(more / cells):.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
