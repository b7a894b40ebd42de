"""Mesh files, one format a file: `SUFFIXES`, `read(bytes) -> Raw`, `write(mesh, ...) -> (bytes, notes)`."""
