"""Read and check thousands of damaged mesh files of every format; report anything but a mesh or one clear error.

    python benchmarks/fuzz_meshes.py [COUNT] [SEED]

Each file must end within 2 seconds and the whole process within 500 MiB above what importing takes.
"""

import collections
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import mutants

import meshes
from meshes.check import summary


def main(count: int = 2000, seed: int = 0) -> int:
    """Print a table; the number of failures is the exit status."""
    failures = 0
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, (path, data) in mutants.samples(folder).items():
            rng = np.random.default_rng([seed, len(data)])
            outcome: collections.Counter[str] = collections.Counter()
            slowest = 0.0
            for _ in range(count):
                path.write_bytes(mutants.damaged(data, rng))
                start = time.perf_counter()
                try:
                    report = meshes.check(meshes.read(path))
                    summary(report)
                    outcome["clean" if report.ok else "flagged"] += 1
                except meshes.MeshFileError as error:
                    outcome["refused"] += 1
                    if "\n" in str(error):
                        outcome["many lines"] += 1
                except Exception:
                    outcome["FAILED"] += 1
                    failures += 1
                    if outcome["FAILED"] <= 2:
                        print(path.read_bytes()[:2000])
                        traceback.print_exc()
                slowest = max(slowest, time.perf_counter() - start)
            failures += slowest > 2
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - base
            print(f"{kind:16} {dict(outcome)}  slowest {slowest:.2f} s  memory +{used:.0f} MiB", flush=True)
            failures += used > 500
    return failures


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:])), 125))
