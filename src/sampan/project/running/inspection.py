"""Look into a running operator: a debugger, and a profile of its functions."""

import cProfile
import importlib
import io
import pstats
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sampan.project.errors import ProjectError

_HOST: Final = "127.0.0.1"
_FUNCTIONS: Final = 20
"""Number of functions that are printed."""


def listen_for_debugger(port: int) -> str:
    """Let editors attach with the Debug Adapter Protocol. Returns the address.

    Raises `ProjectError` if debugpy is not installed, or the port is taken.
    """
    try:
        debugpy = importlib.import_module("debugpy")
    except ImportError:
        raise ProjectError("debugpy is not installed: run pip install debugpy") from None
    try:
        debugpy.listen((_HOST, port))
    except (OSError, RuntimeError) as error:
        raise ProjectError(f"a debugger cannot attach at port {port}: {error}") from error
    return f"{_HOST}:{port}"


@contextmanager
def profiled(root: Path | None, report: Callable[[str], None]) -> Iterator[None]:
    """Measure the functions that are called in the block, and report the slowest ones at its end.

    The whole profile is written to a file of the project at `root`. Without a root, nothing is measured.
    """
    if root is None:
        yield
        return
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
        place = root / ".sampan" / "run" / "profile.pstats"
        place.parent.mkdir(parents=True, exist_ok=True)
        profile.dump_stats(place)
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(_FUNCTIONS)
        report(text.getvalue().rstrip())
        report(f"all functions: python -m pstats {place}")
