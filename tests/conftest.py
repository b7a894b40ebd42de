"""Test set-up: float64, and run-time checks of every annotated shape in the package."""

import jax
from jaxtyping import install_import_hook

jax.config.update("jax_enable_x64", True)
install_import_hook(["sciml", "pdes", "meshes"], "beartype.beartype")
