"""List translated pages that are stale, with the changes of their sources: `make translations`.

`--accept PAGE` records that a page follows its source; `--mark` writes a banner into stale pages.
"""

import argparse
import sys
from pathlib import Path

from scripts.translations.changes import changes_of
from scripts.translations.page import ROOT, Translation, accept, faults, mark, stale_pages, translations


def main() -> int:
    """Run the command. Return 1 if a page has no source or no revision of it. Stale pages are no failure."""
    parser = argparse.ArgumentParser(description="list translated pages whose sources have changed since")
    parser.add_argument("--accept", metavar="PAGE", nargs="+", help="record that the pages follow their sources")
    parser.add_argument("--mark", action="store_true", help="write a banner into stale pages, and remove old banners")
    arguments = parser.parse_args()
    for page in arguments.accept or []:
        accept(_translation(page))
    broken = faults()
    for message in broken:
        print(message, file=sys.stderr)
    if not broken and arguments.mark:
        for each in translations():
            mark(each)
    _list_stale()
    return 1 if broken else 0


def _list_stale() -> None:
    stale = stale_pages()
    for each in stale:
        print(f"{each.page}: {each.source} has changed")
        for line in changes_of(each):
            print(f"    {line}")
    print(f"translated pages: {len(translations())}, stale: {len(stale)}")


def _translation(page: str) -> Translation:
    """Return the translation at a path. Exits with an error if it is none, or if its source does not exist."""
    name = Path(page).resolve().relative_to(ROOT).as_posix()
    found = next((each for each in translations() if each.page == name), None)
    if found is None or not (ROOT / found.source).is_file():
        sys.exit(f"{page}: no translated page with an existing source; its front matter must have `source: PATH`")
    return found


if __name__ == "__main__":
    sys.exit(main())
