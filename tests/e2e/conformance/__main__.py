"""`make conformance ARGS="..."`: runs Kubernetes' conformance suite against Sampan on this machine.

The first run builds the suite, its images, containerd and runc. With `--resume` a run continues after what
has passed before, after an interruption. With `--sample` it runs a few tests, at most three
minutes, with the containerd that is installed.
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

from tests.e2e.conformance import basis, cache, results, sample
from tests.e2e.conformance.binaries import VERSION
from tests.e2e.conformance.building import NEWEST, Built, build, checked_suite
from tests.e2e.conformance.cluster import NODES, cluster
from tests.e2e.conformance.suite import Suite

_ROOT: Final = Path(__file__).parents[3]
_STORED: Final = _ROOT / "benchmarks" / "conformance"
_RESULTS: Final = _ROOT / ".conformance" / "results.json"
_SAMPLE_TIMEOUT_S: Final = 600


def main() -> int:
    """Run tests, and print a summary. The exit code is 1 if a test has failed."""
    options = _options()
    try:
        built = build(options.suite, options.work, _report, is_sample=options.sample)
    except cache.UnavailableError as error:
        print(f"conformance: {'skipped: ' if options.or_skip else ''}{error}", file=sys.stderr)
        return 0 if options.or_skip else 2
    root = Path(tempfile.mkdtemp(prefix="conformance-"))
    kept = root / "results.json" if options.sample else _RESULTS
    kept.parent.mkdir(exist_ok=True)
    if not options.resume:
        kept.unlink(missing_ok=True)
    found = results.Results(kept)
    now = basis.basis(built.suite, built.archive, options.nodes, built.runtimes)
    changed = basis.difference(now, found.basis) if found.by_name else ""
    if changed:
        root.rmdir()
        print(f"conformance: cannot resume, as the results are of another run: {changed}", file=sys.stderr)
        return 2
    found.basis = now
    return _run(options, root, built, found)


def _run(options: argparse.Namespace, root: Path, built: Built, kept: results.Results) -> int:
    _report(f"logs: {root}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.monotonic()
    with cluster(root, built.archive, _report, options.nodes, built.runtimes) as found:
        reports = root / "reports"
        reports.mkdir()
        suite = Suite(built.suite, found.command(), found.kubeconfig, built.kubectl, reports, options.timeout)
        names = _chosen(suite.names_with(options.feature) if options.feature else suite.names(), options)
        _run_tests(suite, names, kept, options.processes)
    print(results.summary(kept, names))
    _report(f"ended after {time.monotonic() - started:.0f} s")
    if options.store:
        _report(f"stored: {results.store(kept, names, _STORED, options.nodes, built.version)}")
    left = kept.left(names)
    if left and not options.sample:
        _report("run the rest with: make conformance ARGS=--resume")
    if options.sample and not left:
        shutil.rmtree(root)
    return 1 if left else 0


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
        _report("stopped")


def _chosen(known: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Return the names of the tests to run. Exits if there is no such test."""
    if options.sample:
        chosen = list(sample.SAMPLE.values())
        unknown = [name for name in chosen if name not in known]
    else:
        chosen = [name for name in known if _is_chosen(name, options)]
        unknown = [] if chosen else [*options.sig, *options.name]
    if unknown or not chosen:
        sys.exit(f"conformance: no test has such a name: {', '.join(unknown)}")
    return chosen


def _is_chosen(name: str, options: argparse.Namespace) -> bool:
    return (
        (not options.sig or results.sig(name) in options.sig)
        and all(word.lower() in name.lower() for word in options.name)
        and not any(word.lower() in name.lower() for word in options.skip)
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("--sample", action="store_true", help="run a few tests, at most three minutes")
    parser.add_argument("--sig", action="append", default=[], help="only tests of this SIG: sig-network; repeatable")
    parser.add_argument(
        "--name", action="append", default=[], help="only tests with this text; repeatable: all of them"
    )
    parser.add_argument("--skip", action="append", default=[], help="no tests with this text; repeatable")
    parser.add_argument("--feature", default="", help="tests of this feature instead: NetworkPolicy")
    parser.add_argument("--processes", type=int, default=4, help="batches of tests that run at a time (4)")
    parser.add_argument("--nodes", type=int, default=NODES, help=f"number of nodes ({NODES})")
    parser.add_argument("--resume", action="store_true", help="run what has not passed in the last run")
    parser.add_argument("--store", action="store_true", help="write the result to benchmarks/conformance")
    parser.add_argument(
        "--suite", type=checked_suite, default=VERSION, help=f"another patch: 1.36.5, or {NEWEST}; or a built e2e.test"
    )
    parser.add_argument("--work", type=Path, help="directory for programs and images (~/.cache/sampan-conformance/…)")
    parser.add_argument(
        "--or-skip", action="store_true", help="succeed if this machine lacks what the tests need, and print the reason"
    )
    options = parser.parse_args()
    if options.sample and (options.sig or options.name or options.feature or options.resume or options.store):
        parser.error("--sample is not combined with --sig, --name, --feature, --resume and --store")
    options.timeout = _SAMPLE_TIMEOUT_S if options.sample else 3600
    return options


def _report(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
