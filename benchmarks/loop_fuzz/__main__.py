"""`python -m benchmarks.loop_fuzz`: measures how long one request of any kind delays an unrelated client.

The server is a separate process without control loops. One client sends the cases one after another. Another process
continuously requests a small object. The figure of a case is the longest wait of that process during the case: in time,
and in processor time of the server, because other programs on the machine lengthen only the former.
"""

import argparse
import http.client
import ssl
import sys
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.connection import Target
from benchmarks.loop_fuzz.bodies import format_cases, kind_cases, metadata_cases, patch_cases, pod_cases, read_cases
from benchmarks.loop_fuzz.cases import JSON, Call, Case
from benchmarks.loop_fuzz.custom import crd_cases, many_crd_cases
from benchmarks.loop_fuzz.floods import FLOODS
from benchmarks.loop_fuzz.floods import run as run_flood
from benchmarks.loop_fuzz.probe import Probe, Wait
from benchmarks.loop_fuzz.report import Outcome, store, text
from benchmarks.loop_fuzz.shapes import DEPTH_MAX, shape_cases
from benchmarks.report import report
from benchmarks.server import NO_LOOPS, running

RESULTS = Path(__file__).parent.parent / "results"
TIMEOUT_S = 30.0
_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: RequestResponse}]
"""
GROUPS = {
    "metadata": metadata_cases,
    "format": format_cases,
    "pod": pod_cases,
    "kind": kind_cases,
    "patch": patch_cases,
    "read": read_cases,
    "crd": crd_cases,
    "many": many_crd_cases,
}


@dataclass(slots=True)
class Attacker:
    """Client that sends one request at a time, and reconnects if its connection is closed."""

    target: Target
    connection: http.client.HTTPSConnection | None = None

    def send(self, fetch: Call) -> str:
        """Send a request. Return the status code of the response, or the name of the error if there is none."""
        connection = self._connected()
        headers = {"Authorization": f"Bearer {self.target.token}", "Accept": JSON, "User-Agent": "fuzz"}
        if fetch.body:
            headers["Content-Type"] = fetch.content_type
        headers |= {name.replace("_", "-").title(): value for name, value in fetch.headers.items()}
        try:
            connection.request(fetch.method, fetch.path, fetch.body or None, headers)
            response = connection.getresponse()
            response.read()
            return str(response.status)
        except (OSError, http.client.HTTPException) as error:
            self.connection = None
            return type(error).__name__

    def _connected(self) -> http.client.HTTPSConnection:
        if self.connection is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            self.connection = http.client.HTTPSConnection(
                self.target.host, self.target.port, context=context, timeout=TIMEOUT_S
            )
        return self.connection


def chosen(groups: Sequence[str], depth: int, stride: int) -> Iterator[Case]:
    """Yield the cases of these groups; of the group `shape` every `stride`-th case."""
    for name, make in GROUPS.items():
        if name in groups:
            yield from make()
    if "shape" in groups:
        for index, case in enumerate(shape_cases(depth)):
            if index % stride == 0:
                yield case


def attack(attacker: Attacker, cases: Iterable[Case]) -> list[tuple[str, str, int, float, float]]:
    """Send the cases. Return name, response, size in bytes, start and end of each."""
    done: list[tuple[str, str, int, float, float]] = []
    for case in cases:
        try:
            for fetch in case.before():
                attacker.send(fetch)
            made = case.make()
        except (ValueError, TypeError, RecursionError) as error:
            report(f"{case.name}: not sent, {error}")
            continue
        time.sleep(0.02)
        began = time.monotonic()
        reply = attacker.send(made)
        ended = time.monotonic()
        time.sleep(0.02)
        done.append((case.name, reply, len(made.body) or len(made.path), began, ended + 0.02))
        report(f"{case.name}: {reply} in {ended - began:.2f} s")
    return done


def flood(target: Target, only: str) -> list[tuple[str, str, int, float, float]]:
    """Run the floods whose names contain `only`. Return the same values as `attack`."""
    done = []
    for name in FLOODS:
        if only in name:
            began = time.monotonic()
            run_flood(name, target)
            done.append((name, "", 0, began, time.monotonic()))
    return done


def outcomes(done: Sequence[tuple[str, str, int, float, float]], waits: Sequence[Wait]) -> list[Outcome]:
    """Return the outcome of each case: the longest waits of the probe during the case."""
    sent = [wait.sent for wait in waits]
    ends = [wait.sent + wait.ms / 1000 for wait in waits]
    found = []
    for name, reply, size, began, ended in done:
        during = waits[bisect_left(ends, began) : bisect_right(sent, ended)]
        longest = [max((getattr(wait, each) for wait in during), default=0.0) for each in ("ms", "cpu_ms", "loop_ms")]
        found.append(Outcome(name, reply, size, (ended - began) * 1000, *longest))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all chosen cases, and print and store the results. Return 0."""
    parser = argparse.ArgumentParser(prog="benchmarks.loop_fuzz", description=__doc__)
    parser.add_argument("--groups", default=",".join([*GROUPS, "shape", "flood"]), help="comma-separated")
    parser.add_argument("--depth", type=int, default=DEPTH_MAX, help="how deep the shapes of built-in types go")
    parser.add_argument("--stride", type=int, default=1, help="try each n-th shape only")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--audit", action="store_true", help="with an audit log of level RequestResponse")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--no-store", action="store_true", help="print the result only")
    parser.add_argument("--server", action="append", default=[], help="a further option of `sampan up`")
    given = parser.parse_args(arguments)
    cases = (case for case in chosen(given.groups.split(","), given.depth, given.stride) if given.only in case.name)
    with tempfile.TemporaryDirectory(prefix="sampan-loop-fuzz-") as directory:
        root = Path(directory)
        options = [*NO_LOOPS, *given.server]
        if given.audit:
            (root / "policy.yaml").write_text(_POLICY)
            options += ["--audit-policy-file", str(root / "policy.yaml"), "--audit-log-path", str(root / "audit.log")]
        with running(root / "data", *options) as server:
            with Probe(server.target, server.pid) as probe:
                time.sleep(1)
                quiet = time.monotonic()
                done = attack(Attacker(server.target), cases)
                if "flood" in given.groups.split(","):
                    done += flood(server.target, given.only)
                time.sleep(0.5)
            found = outcomes(done, probe.waits)
            report(f"server: {server.resident_mb():.0f} MB")
        during = [wait for wait in probe.waits if wait.sent >= quiet]
    print(text(found, during))
    if not given.no_store:
        report(f"stored in {store(found, during, given.results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
