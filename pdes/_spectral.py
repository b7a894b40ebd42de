"""Reference solutions of periodic evolution equations: Fourier in space, ETDRK4 in time, error by doubling both.

``u_t = L u + N(u)`` with L diagonal in Fourier space. Source: Kassam, Trefethen, Fourth-order time-stepping for stiff
PDEs, 2005 (coefficients by contour integrals, which do not cancel for small arguments).
"""

import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from sciml.problem import Reference

_FORMAT = 1  # of the cache files; a change of the algorithm raises it


class Equation(NamedTuple):
    """Periodic evolution equation on ``[lower, upper) x [0, end]``.

    Attributes:
        symbol: wavenumbers -> diagonal of L.
        nonlinear: (u on the grid, wavenumbers) -> Fourier coefficients (rfft) of N(u).
        initial: grid -> u at time zero.
    """

    symbol: Callable[[np.ndarray], np.ndarray]
    nonlinear: Callable[[np.ndarray, np.ndarray], np.ndarray]
    initial: Callable[[np.ndarray], np.ndarray]
    lower: float
    upper: float
    end: float


def _grid(equation: Equation, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """Grid points and the wavenumbers of rfft."""
    width = equation.upper - equation.lower
    return equation.lower + width * np.arange(modes) / modes, 2 * np.pi / width * np.arange(modes // 2 + 1)


def etdrk4(equation: Equation, modes: int, steps: int, saves: int) -> np.ndarray:
    """Values ``(modes, saves + 1)`` on the grid of ``modes`` points, at t = 0 and after ``saves`` equal intervals."""
    if steps % saves:
        raise ValueError(f"got {steps} steps for {saves} intervals; expected a multiple")
    h, (x, k) = equation.end / steps, _grid(equation, modes)
    whole, half, q, f1, f2, f3 = _coefficients(h * equation.symbol(k), h)

    def nonlinear(v):
        return equation.nonlinear(np.fft.irfft(v, modes), k)

    v = np.fft.rfft(equation.initial(x))
    found = [np.fft.irfft(v, modes)]
    for step in range(1, steps + 1):
        n = nonlinear(v)
        a = half * v + q * n
        na = nonlinear(a)
        nb = nonlinear(half * v + q * na)
        nc = nonlinear(half * a + q * (2 * nb - n))
        v = whole * v + n * f1 + 2 * (na + nb) * f2 + nc * f3
        if step % (steps // saves) == 0:
            found.append(np.fft.irfft(v, modes))
    return np.stack(found, axis=1)


def _coefficients(z: np.ndarray, h: float) -> tuple[np.ndarray, ...]:
    """exp(z), exp(z/2) and the four weights, as means over 32 points of a unit circle about each z."""
    circle = np.exp(2j * np.pi * (np.arange(32) + 0.5) / 32)
    r = z[:, None] + circle

    def mean(values):
        found = h * values.mean(axis=1)
        return found if np.iscomplexobj(z) else found.real

    return (
        np.exp(z),
        np.exp(z / 2),
        mean((np.exp(r / 2) - 1) / r),
        mean((-4 - r + np.exp(r) * (4 - 3 * r + r**2)) / r**3),
        mean((2 + r + np.exp(r) * (r - 2)) / r**3),
        mean((-4 - 3 * r - r**2 + np.exp(r) * (4 - r)) / r**3),
    )


def computed_reference(name: str, equation: Equation, *, modes: int, steps: int, shape: tuple[int, int]) -> Reference:
    """Reference on ``shape = (points, times)`` of the spectral grid; its floor is the relative change under doubling.

    The solution at (2 modes, 2 steps) is kept; the one at (modes, steps) measures it, in relative L2. It is cached
    in the folder named by SCIML_CACHE, else in sciml/ of the user's cache folder; without one it is computed again.

    Args:
        shape: ``points`` divides ``modes``, ``times - 1`` divides ``steps``.

    Raises:
        ValueError: a computation that overflows, or a shape that does not divide.
    """
    if modes % shape[0]:
        raise ValueError(f"got {shape[0]} points of {modes} modes; expected a divisor")
    file = _folder() / f"{name}-{_fingerprint(equation, modes, steps, shape)}.npz"
    values, floor = _load(file, shape) or _store(file, *_compute(equation, modes, steps, shape))
    x, t = _grid(equation, shape[0])[0], np.linspace(0, equation.end, shape[1])
    points = np.stack(np.meshgrid(x, t, indexing="ij"), -1).reshape(-1, 2)
    kept = jnp.asarray(values.reshape(-1))
    how = f"Fourier ETDRK4, {2 * modes} modes, {2 * steps} steps; floor by doubling"
    return Reference(jnp.asarray(points), kept, max(floor, float(jnp.finfo(kept.dtype).eps)), how)


def _fingerprint(equation: Equation, modes: int, steps: int, shape: tuple[int, int]) -> str:
    """Digest of what the equation does, so that an edited or re-parametrised one never meets old values."""
    x, k = _grid(equation, modes)
    start = equation.initial(x)
    numbers = (_FORMAT, modes, steps, *shape, equation.lower, equation.upper, equation.end)
    parts = (np.array(numbers, float), equation.symbol(k), start, equation.nonlinear(start + x, k))
    return hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in parts)).hexdigest()[:16]


def _compute(equation: Equation, modes: int, steps: int, shape: tuple[int, int]) -> tuple[np.ndarray, float]:
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            coarse, fine = (
                etdrk4(equation, f * modes, f * steps, shape[1] - 1)[:: f * modes // shape[0]] for f in (1, 2)
            )
            floor = float(np.linalg.norm(fine - coarse) / np.linalg.norm(fine))
    except FloatingPointError:
        floor = np.nan
    if not np.isfinite(floor):
        raise ValueError("the reference computation became non-finite: its parameters lie outside the good values")
    return fine, max(floor, float(np.finfo(float).eps))


def _folder() -> Path:
    """Where values are kept: SCIML_CACHE, else sciml/ in XDG_CACHE_HOME, else in .cache of the home folder."""
    chosen = os.environ.get("SCIML_CACHE")
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(chosen) if chosen else Path(caches) / "sciml"


def _load(file: Path, shape: tuple[int, int]) -> tuple[np.ndarray, float] | None:
    """Cached values and floor, or None when the file is absent or not what it should be."""
    try:
        if file.stat().st_size > 16 * np.prod(shape) + 4096:
            return None
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as found:
            values, floor = found["values"], float(found["floor"])
    except (OSError, EOFError, KeyError, ValueError, TypeError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        return None
    good = values.shape == shape and values.dtype == float and bool(np.all(np.isfinite(values))) and 0 < floor < np.inf
    return (values, floor) if good else None


def _store(file: Path, values: np.ndarray, floor: float) -> tuple[np.ndarray, float]:
    """Write the cache file in one move; an unwritable folder only costs the next run its time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".part-") as folder:
            part = Path(folder) / file.name
            np.savez(part, values=values, floor=floor)
            os.replace(part, file)
    except OSError:
        pass
    return values, floor
