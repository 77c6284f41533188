"""`Reader`: does what the page shows, in a directory with a server, a kubeconfig and an operator."""

import difflib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from sampan.resource.crd import crd_of
from sampan.test_server import serving
from tests.blocks.document import ROOT
from tests.journeys.page import Command, File
from tests.journeys.shown import matches
from tests.symptoms.harbour.boat import Boat
from tests.symptoms.page import Change
from tests.user_environment import user_environment

FOLDER: Final = Path(__file__).parent
OPERATOR: Final = "boats.py"
LOG: Final = "operator.log"
TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 10.0
_PAUSE_S: Final = 0.1
_READS: Final = re.compile(r"(timeout \d+ )?kubectl (get|describe|logs|events|sampan (history|tree))\b|grep |tail ")
_SHELL: Final = "[ ! -f .exports ] || . ./.exports; {}\ncode=$?; export -p > .exports; exit $code"
"""Runs commands as in one shell: exports of one are there in the next."""


@dataclass(frozen=True)
class Place:
    """Folder of a symptom, and the server that it needs."""

    folder: str
    """Files of this symptom alone, if there is such a folder."""
    operator: str = ""
    """Folder of the operator. Default: `folder`, if it has one."""
    loops: str = "gc,namespace"
    """Control loops of the server."""
    up: Sequence[str] = ()
    """Options of `sampan up`, in place of a server for tests."""
    is_operator_started: bool = True
    """False: the page starts the operator."""
    context: str = ""
    """Context of the kubeconfig for the operator."""


@dataclass
class Reader:
    """A reader with a shell."""

    home: Path
    environment: Mapping[str, str]
    started: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    """Programs that run."""

    def do(self, step: Command | File | Change) -> None:
        """Take a step of the page. Raises `AssertionError` with what differs."""
        if isinstance(step, Change):
            self._change(step)
        elif isinstance(step, File):
            (self.home / step.name).write_text(step.text)
        elif step.is_background:
            self.start(["sh", "-c", f"exec {step.text.removesuffix('&')}"])
        else:
            self.run(step)

    def run(self, command: Command) -> None:
        """Run a command; one that reads is repeated until it prints what the page shows."""
        deadline = time.monotonic() + TIMEOUT_S
        code, output = self.shell(command.text)
        while not is_shown(command, code, output) and _READS.match(command.text) and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            code, output = self.shell(command.text)
        if not is_shown(command, code, output):
            lines = difflib.unified_diff(command.output, output.splitlines(), "shown", "found", lineterm="")
            text = "\n".join((f"line {command.line}: $ {command.text}", *lines, f"exit code {code}"))
            log = self.home / LOG
            raise AssertionError(f"{text}\n--- {LOG}\n{log.read_text()[-3000:] if log.exists() else ''}")

    def shell(self, text: str) -> tuple[int, str]:
        """Run commands, and return the exit code and what they print."""
        done = subprocess.run(
            ["sh", "-c", _SHELL.format(text)],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return done.returncode, done.stdout

    def start(self, command: Sequence[str]) -> "subprocess.Popen[bytes]":
        """Start a program that runs until the end. Its output goes to the operator's log."""
        with (self.home / LOG).open("w") as log:
            found = subprocess.Popen(command, cwd=self.home, env=self.environment, stdout=log, stderr=log)
        self.started.append(found)
        return found

    def stop(self) -> None:
        """Stop all programs."""
        while self.started:
            last = self.started.pop()
            last.terminate()
            try:
                last.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                last.kill()
                last.wait()

    def _change(self, step: Change) -> None:
        """Change a file. Start the operator again if it is the operator's."""
        path = self.home / step.name
        text = path.read_text()
        for before, after in step.pairs:
            assert text.count(before) == 1, f"line {step.line}: not once in {step.name}:\n{before}"
            text = text.replace(before, after)
        path.write_text(text)
        if step.name == OPERATOR:
            self.stop()
            self.start([sys.executable, OPERATOR])


def is_shown(command: Command, code: int, output: str) -> bool:
    """Return True if a command has ended as the page shows."""
    return code == command.code and matches(command.output, output)


@contextmanager
def reading(place: Place, home: Path) -> Iterator[Reader]:
    """Give a reader the files of a folder, its server and its operator, until the end of the block."""
    if (FOLDER / place.folder).exists():
        shutil.copytree(FOLDER / place.folder, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    if place.operator:
        shutil.copy(FOLDER / place.operator / OPERATOR, home)
    for name in ("junk.yaml", "pytest.ini"):
        shutil.copy(FOLDER / "harbour" / name, home)
    (home / "crd.yaml").write_text(yaml.safe_dump(crd_of(Boat)))
    reader = Reader(home, _environment(place, home))
    try:
        with _server(place, reader):
            if (home / "begin.sh").exists():
                code, output = reader.shell("set -e; . ./begin.sh")
                assert code == 0, output
            if place.is_operator_started and (home / OPERATOR).exists():
                reader.start([sys.executable, OPERATOR])
            yield reader
    finally:
        reader.stop()


@contextmanager
def _server(place: Place, reader: Reader) -> Iterator[None]:
    """Run the server. Its kubeconfig is a copy, which a reader can change."""
    if place.up:
        reader.start(["sampan", "up", "--data=data", "--secure-port=0", *place.up])
        log = reader.home / LOG
        while "ready https" not in log.read_text():
            assert reader.started[0].poll() is None, log.read_text()
            time.sleep(_PAUSE_S)
        shutil.copy(reader.home / "data" / "kubeconfig", reader.home)
        yield
        return
    with serving(loops=place.loops) as endpoint:
        shutil.copy(endpoint.kubeconfig, reader.home)
        yield


def _environment(place: Place, home: Path) -> Mapping[str, str]:
    return user_environment(
        HOME=str(home),
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        PYTHONPATH=str(ROOT),
        KUBECONFIG=str(home / "kubeconfig"),
        SAMPAN_CONTEXT=place.context,
        SAMPAN_HEALTH_PROBE_BIND_ADDRESS="0",
        SAMPAN_METRICS_BIND_ADDRESS="0",
    )
