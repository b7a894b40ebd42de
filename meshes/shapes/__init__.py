"""Generators, one shape a file: `ALL` maps each name to its generator, `TOPOLOGIES` to what its meshes are."""

import importlib
import pkgutil
from collections.abc import Callable

from meshes.mesh import Mesh
from meshes.shapes.topology import Topology

_MODULES = {
    info.name: module
    for info in pkgutil.iter_modules(__path__)
    if hasattr(module := importlib.import_module(f"{__name__}.{info.name}"), "TOPOLOGY")
}
ALL: dict[str, Callable[..., Mesh]] = {name: getattr(module, name) for name, module in _MODULES.items()}
TOPOLOGIES: dict[str, Topology] = {name: module.TOPOLOGY for name, module in _MODULES.items()}
