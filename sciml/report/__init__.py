"""Run folders, tables and pictures."""

from sciml.report.environment import environment as environment
from sciml.report.environment import require_float64 as require_float64
from sciml.report.run import load as load
from sciml.report.store import load_tree as load_tree
from sciml.report.store import read_header as read_header
from sciml.report.store import save_tree as save_tree
