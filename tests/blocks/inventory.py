"""Prints the blocks of each language, and how many of them run: python -m tests.blocks.inventory."""

from collections import Counter

from tests.blocks.coverage import is_elsewhere, is_known, run_here
from tests.blocks.document import blocks_of, documents


def main() -> None:
    """Print a table."""
    totals: dict[str, Counter[str]] = {}
    for document in documents():
        here = run_here(document)
        for block in blocks_of(document):
            place = "elsewhere" if is_elsewhere(document, block) else "here" if block in here else "exceptions"
            if place == "here" and not is_known(block):
                place = "unknown"
            totals.setdefault(block.language or "none", Counter())[place] += 1
    places = ("here", "elsewhere", "exceptions", "unknown")
    print(f"{'':12}{''.join(f'{place:>12}' for place in (*places, 'all'))}")
    for language, found in sorted(totals.items()):
        print(f"{language:12}{''.join(f'{found[place]:12}' for place in places)}{found.total():12}")


if __name__ == "__main__":
    main()
