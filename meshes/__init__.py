"""Simplicial meshes (NumPy only)."""
