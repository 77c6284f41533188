"""The real kubectl as a callable: one command, its output, and the objects that it leaves behind."""

import json
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

COMMAND_TIMEOUT_S = 60.0
LINE_TIMEOUT_S = 30.0
LOG_LINE = re.compile(r"[IWE]\d{4} \d\d:")


@dataclass(frozen=True)
class Kubectl:
    """kubectl with a configuration, in a separate namespace.

    `environment`: the variables of the process, with KUBECONFIG and a HOME for its caches.
    """

    program: str
    environment: Mapping[str, str]
    namespace: str

    def run(self, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command in the namespace, whatever it answers."""
        return subprocess.run(
            [self.program, "--namespace", self.namespace, *arguments],
            env=dict(self.environment),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        """Run a command that has to succeed. Return its stdout, without the space around it."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, (
            f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}{self._nodes(arguments)}"
        )
        return done.stdout.strip()

    def _nodes(self, arguments: Sequence[str]) -> str:
        """Return the conditions of all nodes, which may be why a wait has failed; empty after other commands."""
        return self.node_conditions() if "wait" in arguments or any("--timeout" in each for each in arguments) else ""

    def node_conditions(self) -> str:
        """Return the conditions of all nodes, one in each line."""
        fields = '{.type}={.status} {.reason} {.message}{"\\n"}'
        shown = '{range .items[*]}{.metadata.name}:{"\\n"}{range .status.conditions[*]}  ' + fields + "{end}{end}"
        return "\n" + self.run("get", "nodes", "-o", f"jsonpath={shown}").stdout

    def fails(self, *arguments: str, stdin: str | None = None, code: int = 1) -> str:
        """Run a command that has to fail. Return its stderr, without the space around it."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == code, f"kubectl {' '.join(arguments)}: {done.returncode} {done.stdout}{done.stderr}"
        return done.stderr.strip()

    def get(self, *arguments: str) -> dict[str, Any]:
        """An object or a list as the server has it."""
        document: dict[str, Any] = json.loads(self("get", *arguments, "-o", "json"))
        return document

    def names(self, *arguments: str) -> list[str]:
        """The names of the objects that `get` finds, as `type/name`."""
        return self("get", *arguments, "-o", "name").split()

    def apply(self, manifest: str, *arguments: str) -> str:
        """Apply a manifest from stdin."""
        return self("apply", "-f", "-", *arguments, stdin=manifest)

    def with_environment(self, **more: str) -> "Kubectl":
        """Return this kubectl with more in its environment."""
        return replace(self, environment={**self.environment, **more})

    @contextmanager
    def started(self, *arguments: str) -> Iterator["Running"]:
        """A command that goes on (a watch, a proxy) until the end of the block."""
        process = subprocess.Popen(
            [self.program, "--namespace", self.namespace, *arguments],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running = Running(process)
        try:
            yield running
        finally:
            process.kill()
            process.wait()
            running.close()


class Running:
    """A command that has been started; a thread reads its lines so that waiting for one has a limit."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def line(self) -> str:
        """The next line of its output. Raises AssertionError if it ends before, queue.Empty if none comes in time."""
        while True:
            line = self._next()
            if not LOG_LINE.match(line):
                return line

    def logged(self, text: str) -> None:
        """Read until a line of its log (`-v`) holds the text."""
        while text not in self._next():
            pass

    def lines(self, count: int) -> list[str]:
        """The next lines of its output."""
        return [self.line() for _ in range(count)]

    def finish(self) -> tuple[int, str]:
        """Wait for its end; gives exit code and the lines that were not read yet."""
        code = self.process.wait(timeout=COMMAND_TIMEOUT_S)
        rest = iter(lambda: self._lines.get(timeout=LINE_TIMEOUT_S), None)
        return code, "\n".join(str(line) for line in rest)

    def close(self) -> None:
        """Wait for the reader after the process is gone."""
        self._reader.join(timeout=LINE_TIMEOUT_S)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _next(self) -> str:
        line = self._lines.get(timeout=LINE_TIMEOUT_S)
        assert line is not None, "the command ended"
        return line

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)
