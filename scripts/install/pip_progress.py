"""Installs packages with pip and shows the progress. Needs only the standard library.

    python scripts/install/pip_progress.py .venv --editable '.[dev]'    # VENV, then arguments of `pip install`

A terminal has one line that changes. Otherwise, for example in CI, there is a line every ten seconds.

Concurrency: a thread reads pip's output; the main thread prints.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

INTERVAL_S = 0.2
LINE_INTERVAL_S = 10.0
LAST_LINES = 20
_INSTALLING = "Installing collected packages: "


class Progress:
    """State of one installation, from the lines that pip prints.

    `installed` returns the number of packages in the environment; `clock` monotonic seconds.
    """

    def __init__(self, installed: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._installed, self._clock = installed, clock
        self._before, self._began = installed(), clock()
        self._found = 0
        self._total = 0
        self._download = ""
        self.lines: list[str] = []

    def read(self, lines: Iterable[str]) -> None:
        """Read the output to its end."""
        for line in lines:
            self.lines = [*self.lines[1 - LAST_LINES :], line.rstrip()]
            text = line.strip()
            if text.startswith("Collecting "):
                self._found += 1
            elif text.startswith("Downloading "):
                self._download = text.removeprefix("Downloading ").split("-")[0]
            elif text.startswith(_INSTALLING):
                self._before, self._began = self._installed(), self._clock()
                self._total = len(text.removeprefix(_INSTALLING).split(","))

    def text(self) -> str:
        """Return the present step: `installing 40 of 120 packages, 9 s left`."""
        if not self._total:
            download = f", downloading {self._download}" if self._download else ""
            return f"found {self._found} packages{download}"
        done = min(max(0, self._installed() - self._before), self._total)
        line = f"installing {done} of {self._total} packages"
        if not 0 < done < self._total:
            return line
        left_s = (self._clock() - self._began) * (self._total - done) / done
        return f"{line}, {max(1, round(left_s))} s left"


def install(venv: Path, arguments: Sequence[str]) -> int:
    """Run pip and return its exit code. If it fails, print the end of its output."""
    python = venv / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off", *arguments]
    progress = Progress(lambda: sum(1 for _ in venv.glob("lib/python3*/site-packages/*.dist-info")))
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace", env=environment) as process:
        assert process.stdout is not None
        reader = threading.Thread(target=progress.read, args=(process.stdout,), daemon=True)
        reader.start()
        _show(reader, progress, sys.stderr.isatty())
        code = process.wait()
    if code:
        print(*progress.lines, sep="\n", file=sys.stderr)
    return code


def _show(reader: threading.Thread, progress: Progress, terminal: bool) -> None:
    """Print the progress until the output ends."""
    began = time.monotonic()
    while True:
        reader.join(INTERVAL_S if terminal else LINE_INTERVAL_S)
        if not reader.is_alive():
            break
        line = f"  {round(time.monotonic() - began)} s: {progress.text()}"
        print(f"\r\x1b[K{line}" if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True)
    if terminal:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1]), sys.argv[2:]))
