"""Reference solutions of periodic evolution equations: Fourier in space, ETDRK4 in time, error by doubling both.

``u_t = L u + N(u)`` with L diagonal in Fourier space. Source: Kassam, Trefethen, Fourth-order time-stepping for stiff PDEs,
2005 (coefficients by contour integrals, which do not cancel for small arguments).
"""

import hashlib
import json
import os
import tempfile
import zipfile
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


def etdrk4(equation: Equation, modes: int, steps: int, saves: int) -> np.ndarray:
    """Values ``(modes, saves + 1)`` on the grid of ``modes`` points at ``saves`` even intervals of time, t = 0 included."""
    if steps % saves:
        raise ValueError(f"got {steps} steps for {saves} intervals; expected a multiple")
    width, h = equation.upper - equation.lower, equation.end / steps
    x = equation.lower + width * np.arange(modes) / modes
    k = 2 * np.pi / width * np.arange(modes // 2 + 1)
    symbol = equation.symbol(k)
    whole, half, q, f1, f2, f3 = _coefficients(h * symbol, h)

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


def computed_reference(
    name: str, parameters: dict[str, float], equation: Equation, *, modes: int, steps: int, shape: tuple[int, int]
) -> Reference:
    """Reference on ``shape = (points, times)`` of the spectral grid, with the relative L2 change under doubling as floor.

    The solution at (2 modes, 2 steps) is kept, the one at (modes, steps) measures it. The result is cached in the folder
    named by SCIML_CACHE, else in sciml/ of the user's cache folder; without write permission it is computed again.
    """
    described = json.dumps([_FORMAT, name, sorted(parameters.items()), modes, steps, shape])
    folder = os.environ.get("SCIML_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sciml"
    file = Path(folder) / f"{name}-{hashlib.sha256(described.encode()).hexdigest()[:16]}.npz"
    values, floor = _load(file, shape) or _store(file, *_compute(equation, modes, steps, shape))
    x = equation.lower + (equation.upper - equation.lower) * np.arange(shape[0]) / shape[0]
    t = np.linspace(0, equation.end, shape[1])
    points = np.stack(np.meshgrid(x, t, indexing="ij"), -1).reshape(-1, 2)
    how = f"Fourier ETDRK4, {2 * modes} modes, {2 * steps} steps; floor by doubling"
    return Reference(jnp.asarray(points), jnp.asarray(values.reshape(-1)), floor, how)


def _compute(equation: Equation, modes: int, steps: int, shape: tuple[int, int]) -> tuple[np.ndarray, float]:
    coarse, fine = (etdrk4(equation, f * modes, f * steps, shape[1] - 1)[:: f * modes // shape[0]] for f in (1, 2))
    if not np.all(np.isfinite(fine)):
        raise ValueError("the reference computation became non-finite: its parameters lie outside the good values")
    floor = float(np.linalg.norm(fine - coarse) / np.linalg.norm(fine))
    return fine, max(floor, float(np.finfo(float).eps))


def _load(file: Path, shape: tuple[int, int]) -> tuple[np.ndarray, float] | None:
    """Cached values and floor, or None when the file is absent or not what it should be."""
    if not file.is_file() or file.stat().st_size > 16 * np.prod(shape) + 4096:
        return None
    try:
        with np.load(file, allow_pickle=False) as found:
            values, floor = found["values"], float(found["floor"])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    good = values.shape == shape and values.dtype == float and np.all(np.isfinite(values)) and np.isfinite(floor)
    return (values, floor) if good else None


def _store(file: Path, values: np.ndarray, floor: float) -> tuple[np.ndarray, float]:
    """Write the cache file in one move; an unwritable folder only costs the next run its time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
            np.savez(part, values=values, floor=floor)
        os.replace(part.name, file)
    except OSError:
        pass
    return values, floor
