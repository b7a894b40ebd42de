"""The text of a run: what was solved, how well, how long it took."""

from collections.abc import Iterable
from typing import Any


def table(rows: Iterable[tuple[str, ...]], header: tuple[str, ...] | None = None) -> str:
    """Left-aligned columns, two blanks apart."""
    lines = [*([header] if header else []), *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
    if header:
        text.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(text)


def number(value: float | None, reason: str = "none") -> str:
    """Three digits, or the reason why there is no number."""
    return reason if value is None else f"{value:.3g}"


def summary_table(summary: dict[str, Any]) -> str:
    """A run's summary as a table of names and values, residuals and notes included."""
    rows = [
        (
            "problem",
            " ".join([summary["problem"], *(f"{k}={v:.6g}" for k, v in summary["problem_parameters"].items())]),
        ),
        ("method", f"{summary['method']}: {summary['why']}"),
        ("weights", summary["weights"]),
        ("result", summary["result_text"]),
        ("relative L2 error", number(summary["relative_l2"], summary.get("relative_l2_reason", "unknown"))),
        ("largest error", number(summary["max_error"], "unknown")),
        ("reference", f"{summary['reference']} (its own error {number(summary['reference_floor'])})"),
        *((f"rms residual, {g}", number(r, "not finite")) for g, r in summary["residuals"].items()),
        *((f"drift of {name}", number(d)) for name, d in summary["invariant_drift"].items()),
        ("steps, parameters", f"{summary['steps']}, {summary['parameters']} ({summary['dtype']})"),
        ("seconds", f"{summary['seconds']:.1f}, of which compiling {summary['compile_seconds']:.1f}"),
        *(("note", note) for note in summary["notes"]),
        *((("folder", summary["out"]),) if summary["out"] else ()),
    ]
    return table(rows)
