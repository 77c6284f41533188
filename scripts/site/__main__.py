"""Write the site, and serve it if requested."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from scripts.site.build import Faulty, build
from scripts.site.cache import Cache
from scripts.site.places import CACHE, OUTPUT, ROOT
from scripts.site.serve import serve

from sampan.core.clock import monotonic


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site. Return the exit code: 1 if it has faults."""
    parser = argparse.ArgumentParser(prog="make docs", description="Build the documentation site.")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder of the result (default: build/site)")
    parser.add_argument("--edit-address", default="", help="address before the path of a file, for `Edit this page`")
    parser.add_argument("--fresh", action="store_true", help="render all pages, also those whose sources are the same")
    parser.add_argument("--serve", action="store_true", help="serve the result on 127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="port for --serve; 0: a free one (default: 8000)")
    chosen = parser.parse_args(arguments)
    began = monotonic()
    cache = Cache.load(CACHE, is_fresh=chosen.fresh)
    try:
        site = build(chosen.output, edit_address=chosen.edit_address, cache=cache)
    except Faulty as faults:
        for fault in faults.args:
            print(f"fault: {fault}", file=sys.stderr)
        return 1
    size = sum(file.stat().st_size for file in chosen.output.rglob("*") if file.is_file())
    shown = chosen.output.relative_to(ROOT) if chosen.output.is_relative_to(ROOT) else chosen.output
    took = f"{monotonic() - began:.1f} s ({process_time():.1f} s of processor time)"
    print(f"{shown}: {len(site.pages)} pages, {cache.made} rendered, {size / 1e6:.1f} MB, built in {took}", flush=True)
    return serve(chosen.output, chosen.port) if chosen.serve else 0


if __name__ == "__main__":
    sys.exit(main())
