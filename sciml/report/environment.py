"""What a result was computed with: versions, device, float width."""

import importlib.metadata
import platform
import warnings
from typing import Any

import jax

_PACKAGES = (
    "sciml-jax",
    "jax",
    "jaxlib",
    "equinox",
    "optax",
    "diffrax",
    "lineax",
    "optimistix",
    "flax",
    "numpy",
    "scipy",
)


def environment() -> dict[str, Any]:
    """Versions, device and float width in bits, as plain values; print it in the first cell of a notebook."""
    device = jax.devices()[0]
    return {
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "device": f"{jax.device_count()} x {device.platform} ({device.device_kind})",
        "float_bits": 64 if jax.config.read("jax_enable_x64") else 32,
    }


def require_float64() -> None:
    """Switch JAX to float64 for what follows; warns when float32 arrays exist already, since those stay as they are."""
    jax.config.update("jax_enable_x64", True)
    old = [a for a in jax.live_arrays() if a.dtype == jax.numpy.float32]
    if old:
        warnings.warn(
            f"float64 was asked for after {len(old)} float32 arrays had been made; results that use them are good to "
            "1e-7 at best: ask for float64 in the first cell",
            stacklevel=2,
        )
