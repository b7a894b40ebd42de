"""Models from other libraries as Fields."""

from sciml.learn.flax_adapter import from_flax as from_flax
