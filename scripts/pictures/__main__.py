"""Draw the pictures of the documentation: `make pictures`."""

from scripts.pictures.files import drawn


def main() -> None:
    """Write all pictures."""
    for path, text in drawn().items():
        path.write_text(text)


main()
