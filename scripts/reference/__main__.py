"""Write docs/reference."""

from scripts.reference.pages import FOLDER, pages


def main() -> None:
    """Write all pages, and remove others."""
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for file in FOLDER.glob("*.md"):
        if file.name not in written:
            file.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text)


main()
