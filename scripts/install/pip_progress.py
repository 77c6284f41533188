"""Installs packages with pip and shows the progress. Needs only the standard library.

    python scripts/install/pip_progress.py .venv --editable '.[dev]'    # VENV, then arguments of `pip install`

A terminal has one line that changes. Otherwise, for example in CI, there is a line every ten seconds.

Concurrency: a thread reads pip's output; the main thread prints.
"""

import os
import re
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
_MB = 1_000_000
_SLOW_S = 5.0


class Progress:
    """State of one installation, from the lines that pip prints.

    `installed` returns the number of packages in the environment; `clock` monotonic seconds.
    """

    def __init__(self, installed: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._installed, self._clock = installed, clock
        self._began = clock()
        self._found = 0
        self._file, self._file_bytes, self._file_size = "", 0, 0
        self._finished_bytes = 0
        self._total = self._before = self._done = 0
        self._changed = self._began
        self.lines: list[str] = []

    def read(self, lines: Iterable[str]) -> None:
        """Read the output to its end."""
        for line in lines:
            text = line.strip()
            if text.startswith("Progress "):
                self._file_bytes, self._file_size = (int(word) for word in text.split()[1::2])
                continue
            self.lines = [*self.lines[1 - LAST_LINES :], line.rstrip()]
            if text.startswith("Collecting "):
                self._found += 1
            elif text.startswith("Downloading "):
                self._end_file()
                self._file = text.removeprefix("Downloading ").split("-")[0]
            elif text.startswith(_INSTALLING):
                self._end_file()
                self._before, self._changed = self._installed(), self._clock()
                self._began = self._changed
                self._total = len(text.removeprefix(_INSTALLING).split(","))

    def _end_file(self) -> None:
        self._finished_bytes += self._file_bytes
        self._file, self._file_bytes, self._file_size = "", 0, 0

    def text(self) -> str:
        """Return the present step, such as `installing 40 of 120 packages, 9 s left`.

        The remaining time of a download is that of its file, at the rate of all bytes so far.
        """
        return self._installing() if self._total else self._downloading()

    def _downloading(self) -> str:
        line = f"found {self._found} packages"
        loaded = self._finished_bytes + self._file_bytes
        if loaded:
            line += f", downloaded {loaded / _MB:.0f} MB"
        if not self._file:
            return line
        if not self._file_bytes:
            return f"{line}, downloading {self._file}"
        left_s = (self._clock() - self._began) * (self._file_size - self._file_bytes) / loaded
        size = f"{self._file_bytes / _MB:.0f} of {self._file_size / _MB:.0f} MB"
        return f"{line}, {self._file}: {size}, {_seconds(left_s)} left"

    def _installing(self) -> str:
        done, now = min(max(0, self._installed() - self._before), self._total), self._clock()
        if done != self._done:
            self._done, self._changed = done, now
        line = f"installing {done} of {self._total} packages"
        if not 0 < done < self._total:
            return line
        each_s = (self._changed - self._began) / done
        # A package that takes much longer than those before it makes their rate useless.
        if now - self._changed > max(_SLOW_S, 3 * each_s):
            return f"{line}, the present one for {round(now - self._changed)} s"
        return f"{line}, {_seconds((self._total - done) * each_s)} left"


def _seconds(seconds: float) -> str:
    return f"{max(1, round(seconds))} s"


def bar_of(venv: Path) -> str:
    """Return the progress bar to request of the environment's pip: before 24.1 it has none for programs."""
    for info in venv.glob("lib/python3*/site-packages/pip-*.dist-info"):
        major, minor = (int(part) for part in re.findall(r"\d+", info.name.removeprefix("pip-"))[:2])
        return "raw" if (major, minor) >= (24, 1) else "off"
    return "off"


def install(venv: Path, arguments: Sequence[str]) -> int:
    """Run pip and return its exit code. If it fails, print the end of its output."""
    python = venv / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", f"--progress-bar={bar_of(venv)}"]
    command += arguments
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
