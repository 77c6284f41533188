"""Write docs/reference and the versions of public names. `--released`: write the snapshot of the public API as well."""

import sys

from scripts.reference.pages import FOLDER, pages
from scripts.reference.since import FILE, record
from scripts.reference.stubs import SNAPSHOT, write_stubs


def main() -> None:
    """Write all pages, and remove others."""
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for file in FOLDER.glob("*.md"):
        if file.name not in written:
            file.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text)
    FILE.write_text(record())
    if "--released" in sys.argv:
        write_stubs(SNAPSHOT)


main()
