"""`Suite`: lists and runs tests of `e2e.test`, several at a time, and yields each result as soon as it is known.

Tests run in batches, each by its own process of `e2e.test`. Tests marked `[Serial]` run alone, at the end.
"""

import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

_BATCH: Final = 8
_TEXT_MAX: Final = 2000


@dataclass(frozen=True)
class Result:
    """Result of one test."""

    name: str
    passed: bool
    seconds: float
    message: str = ""
    """The failure, if it failed."""


@dataclass(frozen=True)
class Suite:
    """Suite with the command that runs it."""

    program: Path
    enter: Sequence[str]
    """Words before the program, with which it reaches the server."""
    kubeconfig: Path
    kubectl: Path
    reports: Path
    """Directory for output and reports of each batch."""
    timeout_s: int = 3600
    """Time limit of a batch."""

    def names(self) -> list[str]:
        """Return the names of all conformance tests."""
        listed = subprocess.run([self.program, "-list-conformance-tests"], capture_output=True, check=True).stdout
        return sorted({each["codename"] for each in yaml.safe_load(listed)})

    def names_with(self, feature: str) -> list[str]:
        """Return the names of all tests of a feature, such as NetworkPolicy, which no conformance test needs."""
        listed = subprocess.run([self.program, "-list-tests"], capture_output=True, check=True, text=True).stdout
        lines = re.findall(r"^\s*\S+\.go:\d+: (.*)$", listed, re.MULTILINE)
        return sorted({line.strip() for line in lines if f"[Feature:{feature}]" in line})

    def run(self, names: Sequence[str], processes: int) -> Iterator[Result]:
        """Run tests. `processes`: number of batches at a time. Cancelling ends the running processes."""
        serial = [name for name in names if "[Serial]" in name]
        parallel = [name for name in names if "[Serial]" not in name]
        size = max(1, min(_BATCH, len(parallel) // (2 * processes)))
        # Neighbours in the list are of one kind and often equally slow, so they go to different batches.
        count = -(-len(parallel) // size)
        batches = [parallel[start::count] for start in range(count)]
        running = _Running()
        try:
            yield from self._run_all(batches, processes, running)
            yield from self._run_all([[name] for name in serial], 1, running)
        finally:
            running.end()

    def _run_all(self, batches: Sequence[Sequence[str]], processes: int, running: "_Running") -> Iterator[Result]:
        with ThreadPoolExecutor(processes) as pool:
            waiting: set[Future[list[Result]]] = {pool.submit(self._run_batch, each, running) for each in batches}
            try:
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for each in done:
                        yield from each.result()
            finally:
                for each in waiting:
                    each.cancel()
                running.end()

    def _run_batch(self, names: Sequence[str], running: "_Running") -> list[Result]:
        identity = f"{abs(hash(tuple(names))):x}"
        report = self.reports / f"{identity}.json"
        focus = "|".join(f"{re.escape(name)}$" for name in names)
        command = [
            *(*self.enter, str(self.program), f"--kubeconfig={self.kubeconfig}", "--provider=skeleton"),
            *(f"--kubectl-path={self.kubectl}", "--dns-domain=cluster.local", f"--ginkgo.focus={focus}"),
            *(f"--ginkgo.json-report={report}", "--ginkgo.no-color", f"--ginkgo.timeout={self.timeout_s}s"),
            *("--allowed-not-ready-nodes=0", "--delete-namespace-on-failure=true", "--num-nodes=2"),
        ]
        with (self.reports / f"{identity}.log").open("wb") as log:
            process = running.start(command, log)
            if process is not None:
                process.wait()
        found = _read(report)
        return [found.get(name) or Result(name, False, 0.0, "the process ended without a result") for name in names]


class _Running:
    """Processes of the suite that run now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._is_ended = False

    def start(self, command: Sequence[str], log: Any) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._is_ended:
                return None
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            self._processes.append(process)
            return process

    def end(self) -> None:
        """End all processes. `nsenter` passes the signal on only by dying: then the namespace's end ends the suite."""
        with self._lock:
            running = [each for each in self._processes if each.poll() is None]
            self._is_ended = bool(running)
            for each in running:
                each.send_signal(signal.SIGTERM)


def _read(report: Path) -> Mapping[str, Result]:
    """Read ginkgo's report. Tests that were skipped have no result."""
    if not report.exists():
        return {}
    found = {}
    for suite in json.loads(report.read_text()):
        for spec in suite.get("SpecReports") or ():
            if spec["State"] in ("skipped", "pending") and not spec.get("Failure", {}).get("Message"):
                continue
            name = " ".join([*(spec.get("ContainerHierarchyTexts") or ()), spec["LeafNodeText"]])
            failure = spec.get("Failure", {})
            message = failure.get("Message") or failure.get("ForwardedPanic", "")
            found[name] = Result(name, spec["State"] == "passed", spec["RunTime"] / 1e9, message[:_TEXT_MAX])
    return found
