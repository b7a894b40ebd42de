"""A torus of a million triangles: write, read, tables, check; beside trimesh, where it does the same.

    OMP_NUM_THREADS=1 python benchmarks/mesh_speed.py [REPEATS]

Seconds are medians; the ratio is theirs over ours for reading and counting vertices, edges and triangles.
"""

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import trimesh

import meshes


def seconds(work):
    """Seconds of one call, and its value."""
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def rival(path: Path) -> int:
    """The Euler number by trimesh, which welds corners of STL files as we do."""
    return trimesh.load(path, process=path.suffix == ".stl").euler_number


def main(repeats: int = 3) -> None:
    """Print one row a format."""
    torus = meshes.torus(500, around=1000)
    print(
        f"{len(torus.cells)} triangles; memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB"
    )
    with tempfile.TemporaryDirectory() as name:
        for suffix in ("ply", "stl", "off", "obj", "msh", "vtu"):
            path = Path(name) / f"torus.{suffix}"
            meshes.write(torus, path)
            rows = []
            for _ in range(repeats):
                read, mesh = seconds(lambda path=path: meshes.read(path))
                tables, _ = seconds(lambda mesh=mesh: meshes.tables(mesh))
                check, report = seconds(lambda mesh=mesh: meshes.check(mesh))
                assert report.betti == (1, 2, 1)
                theirs = seconds(lambda path=path: rival(path))[0] if suffix not in ("msh", "vtu") else float("nan")
                rows.append((read, tables, check, read + tables + check, theirs))
            read, tables, check, total, theirs = map(statistics.median, zip(*rows, strict=True))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"{suffix}  read {read:5.2f}  tables {tables:5.2f}  check {check:5.2f}  all {total:5.2f}  "
                f"trimesh {theirs:5.2f}  ratio {theirs / (read + tables):4.2f}  peak {peak} MiB",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
