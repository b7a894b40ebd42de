"""How long JAX spent tracing, lowering and compiling, apart from running."""

import contextlib
import time
from collections.abc import Iterator

import jax


class Clock:
    """Seconds since it started, and the part of them covered by JAX compilation events."""

    def __init__(self):
        self._start = time.perf_counter()
        self._spans: list[tuple[float, float]] = []

    def record(self, event: str, start_time: float, end_time: float, **_: str | int) -> None:
        """Listener for jax.monitoring time spans."""
        if event.startswith("/jax/core/compile/"):
            self._spans.append((start_time, end_time))

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    @property
    def compile_seconds(self) -> float:
        """Length of the union of the spans (they nest)."""
        total, reached = 0.0, -float("inf")
        for start, end in sorted(self._spans):
            total += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        return total


@contextlib.contextmanager
def clock() -> Iterator[Clock]:
    """A running Clock, attached to jax.monitoring for the extent of the block."""
    running = Clock()
    jax.monitoring.register_event_time_span_listener(running.record)
    try:
        yield running
    finally:
        jax.monitoring.unregister_event_time_span_listener(running.record)
