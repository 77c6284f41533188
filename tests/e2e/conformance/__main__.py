"""`make conformance ARGS="..."`: runs Kubernetes' conformance suite against Sampan on this machine.

The first run builds the suite and its images. With `--resume` a run continues after what
has passed before: after an interruption, or after a repair.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.e2e.conformance import binaries, images, results
from tests.e2e.conformance.cluster import NODES, cluster
from tests.e2e.conformance.suite import Suite
from tests.machines import missing

_STORED: Final = Path(__file__).parents[3] / "benchmarks" / "conformance"
_DEBIAN_PACKAGES: Final = {"go": "golang", "mmdebstrap": "mmdebstrap"}


def main() -> int:
    """Run tests, and print a summary. The exit code is 1 if a test has failed."""
    options = _options()
    lacking = missing() or _missing_programs()
    if lacking:
        print(f"conformance: {lacking}", file=sys.stderr)
        return 2
    work = options.work.resolve()
    programs = work / "programs"
    if options.suite is not None:
        binaries.use(programs, options.suite)
    binaries.build(programs, _report)
    archive = work / "images.tar"
    images.build(archive, programs, binaries.sources(), _report)
    kept = work / "results.json"
    if not options.resume:
        kept.unlink(missing_ok=True)
    return _run(options, programs, archive, results.Results(kept))


def _run(options: argparse.Namespace, programs: Path, archive: Path, kept: results.Results) -> int:
    root = Path(tempfile.mkdtemp(prefix="conformance-"))
    _report(f"logs: {root}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with cluster(root, archive, _report, options.nodes) as found:
        reports = root / "reports"
        reports.mkdir()
        suite = Suite(programs / "e2e.test", found.command(), found.kubeconfig, programs / "kubectl", reports)
        names = [name for name in suite.names() if _is_chosen(name, options)]
        if not names:
            print("conformance: no test has such a name", file=sys.stderr)
            return 2
        _run_tests(suite, names, kept, options.processes)
    print(results.summary(kept, names))
    if options.store:
        _report(f"stored: {results.store(kept, names, _STORED, options.nodes)}")
    return 1 if kept.left(names) else 0


def _run_tests(suite: Suite, names: Sequence[str], kept: results.Results, processes: int) -> None:
    left = kept.left(names)
    started = time.monotonic()
    done = 0
    try:
        for result in suite.run(left, processes):
            kept.add(result)
            done += 1
            minutes = (time.monotonic() - started) / 60 * (len(left) - done) / done
            state = "passed" if result.passed else "FAILED"
            _report(
                f"{done} of {len(left)}, about {minutes:.0f} min left: {state} {result.seconds:.0f} s {result.name}"
            )
    except KeyboardInterrupt:
        _report("stopped; go on with: make conformance ARGS=--resume")


def _is_chosen(name: str, options: argparse.Namespace) -> bool:
    return (not options.sig or results.sig(name) in options.sig) and all(
        word.lower() in name.lower() for word in options.name
    )


def _missing_programs() -> str:
    lacking = [name for name in images.PROGRAMS if shutil.which(name) is None]
    packages = " ".join(_DEBIAN_PACKAGES[name] for name in lacking)
    return f"not installed: {', '.join(lacking)}; on Debian: apt install {packages}" if lacking else ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("--sig", action="append", default=[], help="only tests of this SIG: sig-network; repeatable")
    parser.add_argument(
        "--name", action="append", default=[], help="only tests with this text; repeatable: all of them"
    )
    parser.add_argument("--processes", type=int, default=4, help="batches of tests that run at a time (4)")
    parser.add_argument("--nodes", type=int, default=NODES, help=f"number of nodes ({NODES})")
    parser.add_argument("--resume", action="store_true", help="run what has not passed in the last run")
    parser.add_argument("--store", action="store_true", help="write the result to benchmarks/conformance")
    parser.add_argument("--suite", type=Path, help="an e2e.test that is already built")
    parser.add_argument("--work", type=Path, default=Path(".conformance"), help="directory for programs and images")
    return parser.parse_args()


def _report(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
