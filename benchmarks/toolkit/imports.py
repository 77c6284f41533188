"""Import time of the client's modules: the time of a new process, without the start of Python itself."""

import subprocess
import sys
import time

from benchmarks.load import Figure

RUNS = 7


def measure_import(count: int) -> Figure:
    """Measure the milliseconds to import `sampan.client`: the best of a few processes. `count` has no effect."""
    loaded, bare = _best_ms("import sampan.client"), _best_ms("pass")
    return Figure(round(loaded - bare, 1), note=f"Python itself {bare:.0f} ms")


def _best_ms(code: str) -> float:
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append((time.perf_counter() - began) * 1000)
    return min(times)
