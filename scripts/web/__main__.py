"""`make web`: builds the page, and prints the sizes of its files. `--check`: checks the types of its sources."""

import argparse
import json
import subprocess
import sys

from scripts.web.build import build
from scripts.web.packages import CannotBuild, install
from scripts.web.places import META, ROOT, TARGET


def main() -> int:
    """Build, or report in one line what is missing."""
    parser = argparse.ArgumentParser(prog="make web", description=__doc__)
    parser.add_argument("--check", action="store_true", help="check the types of web/src")
    parser.add_argument("--quiet", action="store_true", help="do not print the sizes")
    options = parser.parse_args()
    try:
        if options.check:
            install(ROOT / "web", development=True)
            return subprocess.run(["node", "node_modules/typescript/bin/tsc"], cwd=ROOT / "web", check=False).returncode
        build(ROOT)
    except CannotBuild as error:
        print(f"the dashboard is not built: {error}", file=sys.stderr)
        return 1
    if not options.quiet:
        _print_sizes()
    return 0


def _print_sizes() -> None:
    target = ROOT / TARGET
    total = 0
    for name in json.loads((target / META).read_text())["files"]:
        size = (target / f"{name}.br").stat().st_size
        total += size
        print(f"{size / 1000:8.1f} kB  {name}")
    print(f"{total / 1000:8.1f} kB  all files of the dashboard, with brotli")


if __name__ == "__main__":
    sys.exit(main())
