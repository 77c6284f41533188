"""`walk`: follows a page on new machines, command by command."""

import difflib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.e2e.cri import image
from tests.journeys.images import archives
from tests.journeys.packages import write_packages
from tests.journeys.page import Command, File, Page
from tests.journeys.programs import write_programs
from tests.journeys.shown import matches
from tests.journeys.stand_ins import DOCUMENTS, protect, write_checkout, write_environment, write_stand_ins
from tests.journeys.terminal import Done, Terminal, until
from tests.machines import Containerd, Lan, Machine, lan

COMMAND_TIMEOUT_S: Final = 400.0
UNTIL_TIMEOUT_S: Final = 180.0
REBOOT: Final = "reboot"
_PAUSE_S: Final = 0.3
_LOG_LINES: Final = 15


class JourneyError(Exception):
    """A command did not do what its page shows. The text has the page's line, and what was printed."""


@dataclass
class _Machines:
    """Machines of a page, and a shell on each."""

    network: Lan
    containerd: dict[str, Containerd] = field(default_factory=dict)
    terminals: dict[str, Terminal] = field(default_factory=dict)

    def reboot(self, name: str) -> None:
        """Reboot a machine. containerd starts with it, as a service of systemd does; the shell is a new one."""
        old = self.terminals[name]
        old.close()
        names = [each.name for each in self.network.machines]
        self.network.reboot(names.index(name))
        if name in self.containerd:
            self.containerd[name].start()
        self.terminals[name] = Terminal(self.network.machines[names.index(name)], old.environment)


@dataclass(frozen=True)
class Differing:
    """A command whose output is not that of its page."""

    command: Command
    output: str

    def __str__(self) -> str:
        """Return a diff of the shown output and the found one."""
        lines = difflib.unified_diff(self.command.output, self.output.splitlines(), "shown", "found", lineterm="")
        return "\n".join((f"line {self.command.line}: $ {self.command.text}", *lines))


def walk(page: Page, root: Path, differing: list[Differing] | None = None) -> None:
    """Follow a page. `root`: an empty directory. Raises `JourneyError`.

    `differing`: a list for commands with another output than shown; without it, they are errors as well.
    """
    first = page.machines[0].name
    with _machines(page, root) as machines:
        for step in page.steps:
            if isinstance(step, File):
                for name in machines.terminals:
                    path = root / name / "home" / step.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(step.text)
            elif step.text == REBOOT:
                machines.reboot(step.machine or first)
            else:
                _run(machines.terminals[step.machine or first], step, root, differing)


def _run(terminal: Terminal, command: Command, root: Path, differing: list[Differing] | None) -> None:
    """Run a command until its output is as shown."""
    deadline = time.monotonic() + UNTIL_TIMEOUT_S
    try:
        done = terminal.run(command.text, COMMAND_TIMEOUT_S)
        while command.is_repeated and not _is_shown(command, done) and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            done = terminal.run(command.text, COMMAND_TIMEOUT_S)
        if command.is_background:
            until(lambda: _is_shown(command, done), UNTIL_TIMEOUT_S)
    except AssertionError as error:
        raise JourneyError(_text(command, str(error), root)) from None
    if not _is_shown(command, done):
        if differing is not None and command.output and _is_code(command, done.code):
            differing.append(Differing(command, done.output))
            return
        raise JourneyError(_text(command, f"exit {done.code}, output:\n{done.output}", root))


def _is_shown(command: Command, done: Done) -> bool:
    # A program in the background writes log lines before and after those that a page shows.
    shown = ["...", *command.output, "..."] if command.is_background else command.output
    return _is_code(command, done.code) and matches(shown, done.output)


def _is_code(command: Command, code: int) -> bool:
    if command.code is None:
        return bool(command.output) or code == 0
    return command.code in (-1, code)


def _text(command: Command, found: str, root: Path) -> str:
    """Return what a failure shows: the command, its output, and the ends of all logs, those of containers included."""
    shown = "\n".join(command.output) or "(any output)"
    text = f"line {command.line}: $ {command.text}\n--- shown, exit {command.code}:\n{shown}\n--- found: {found}"
    for log in sorted([*root.glob("*/*.log"), *root.glob("*/var/log/pods/*/*/*.log")]):
        lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
        text += "\n".join([f"\n--- {log.relative_to(root)}:", *lines])
    return text


@contextmanager
def _machines(page: Page, root: Path) -> Iterator[_Machines]:
    """Run the machines of a page, and a shell on each. All of it disappears at the end."""
    archive = archives([part for each in page.machines for part in each.images], root)
    with lan(root, [each.name for each in page.machines]) as network:
        found = _Machines(network)
        try:
            for expected, machine in zip(page.machines, network.machines, strict=True):
                if expected.has_containerd:
                    containerd = found.containerd[expected.name] = Containerd(machine, image.PAUSE)
                    containerd.start()
                    for path in {archive[name] for name in (image.PAUSE, *expected.images)}:
                        containerd.load(path)
                found.terminals[expected.name] = Terminal(machine, _environment(machine, expected.parts))
            yield found
        finally:
            for terminal in found.terminals.values():
                terminal.close()


def _environment(machine: Machine, parts: Sequence[str]) -> Mapping[str, str]:
    home, programs = machine.root / "home", machine.root / "bin"
    home.mkdir()
    shared = machine.root.parent / "shared"
    shared.mkdir(exist_ok=True)
    (home / "shared").symlink_to(shared)
    write_programs(programs, machine, parts)
    if DOCUMENTS in parts:
        protect(machine)
        (home / "tmp").mkdir()
        write_stand_ins(programs)
        write_checkout(home)
        write_environment(home, machine)
    path = f"{programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    own = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"}
    if DOCUMENTS in parts:
        own["TMPDIR"] = str(home / "tmp")
    return {**own, **write_packages(home, machine, parts)}
