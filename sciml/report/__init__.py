"""Run folders, tables and pictures."""

from sciml.report.environment import environment as environment, require_float64 as require_float64
from sciml.report.run import load as load
from sciml.report.store import load_tree as load_tree, read_header as read_header, save_tree as save_tree
