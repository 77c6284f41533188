"""Command line: `python -m scripts.kinds generate|check|report`; `make kinds` and `make kinds-report` call it."""

import argparse
import sys
from collections.abc import Sequence

import hatch_build
from scripts.kinds import files, transcribed
from scripts.kinds.defaults import DefaultNotPublished
from scripts.kinds.messages import UnknownMessage
from scripts.kinds.report import report
from scripts.kinds.sources import SourceNotFound, Sources, download, find

_PLACE = "path of a checkout of kubernetes/kubernetes, or a version such as 1.36.0 in Go's module cache"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Return the exit status: 1 if files differ or sources are missing."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "report":
            old, new = (_sources(place, options) for place in (options.old, options.new))
            sys.stdout.write(report(old, new))
            return 0
        sources = _sources(options.place or hatch_build.kubernetes_version(files.ROOT), options)
        return _generate(sources, only_check=options.command == "check")
    except (SourceNotFound, UnknownMessage, DefaultNotPublished) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.kinds")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("generate", "write the data files"),
        ("check", "compare the data files with what would be written, and write nothing"),
    ):
        command = commands.add_parser(name, help=purpose)
        command.add_argument("place", nargs="?", help=f"{_PLACE}; default: the version that the package declares")
        command.add_argument("--download", action="store_true", help="download the version with `go mod download`")
    command = commands.add_parser("report", help="list what a version changes and what Sampan lacks of it")
    command.add_argument("old", help=_PLACE)
    command.add_argument("new", help=_PLACE)
    command.add_argument("--download", action="store_true", help="download both versions with `go mod download`")
    return parser


def _sources(place: str, options: argparse.Namespace) -> Sources:
    if options.download:
        download(place)
    return find(place)


def _generate(sources: Sources, *, only_check: bool) -> int:
    declared = hatch_build.kubernetes_version(files.ROOT)
    if not declared.startswith(f"{sources.minor}."):
        raise SourceNotFound(
            f"the sources are of Kubernetes {sources.minor}, {hatch_build.VERSION_FILE} declares {declared}: "
            "change it first"
        )
    made = files.generate(sources)
    changed = files.changed(made)
    if not only_check:
        files.write(made)
    for name in changed:
        sys.stdout.write(f"{'differs' if only_check else 'written'}: {name}\n")
    if not changed:
        sys.stdout.write(f"all {len(made)} data files are those of Kubernetes {declared}\n")
    differences = list(transcribed.differences(sources))
    for difference in differences:
        sys.stdout.write(f"correct by hand: {difference}\n")
    return 1 if differences or (changed and only_check) else 0


if __name__ == "__main__":
    sys.exit(main())
