"""Views of linked files that are no documents, and lists of the files of linked folders."""

import html
import re
from collections.abc import Iterator
from typing import Final

from scripts.site.code import highlighted
from scripts.site.page import Page
from scripts.site.places import ROOT

_DEFINITION: Final = re.compile(
    r"^(?:class |def |async def )?(?!L\d+\b)([A-Za-z]\w*)(?=\(|\[| = |: (?!\n)|:$)", re.MULTILINE
)
_LANGUAGES: Final = {
    ".py": "python",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".toml": "toml",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".sh": "bash",
}


def listing_page(folder: str, path: str) -> Page:
    """Return a page with the files of a folder: links to documents, names of others."""
    files = sorted((ROOT / folder).iterdir(), key=lambda each: (each.is_file(), each.name))
    lines = [f"# Folder {folder}", "", "These are the files of the folder in the repository.", ""]
    for file in files:
        if file.name.startswith((".", "__pycache__")):
            continue
        name = file.name + ("/" if file.is_dir() else "")
        is_document = file.suffix == ".md" or (file / "README.md").is_file()
        lines.append(f"- [{name}]({file.name})" if is_document else f"- `{name}`")
    # Its links are relative to the folder.
    return Page(path, f"{folder}/README.md", "\n".join(lines) + "\n", is_generated=True, is_listed=False)


def view_html(source: str) -> str:
    """Return the body of the view of a file, with a number and an anchor for each line, and one for each definition."""
    file = ROOT / source
    text = file.read_text()
    lines = highlighted(text, _LANGUAGES.get(file.suffix, "text")).rstrip("\n").split("\n")
    named = dict(definitions(text)) if file.suffix == ".py" else {}
    # The last sign of a line is its break: it is part of a copied text.
    numbered = "".join(
        f'<span class="line" id="L{number}"><a class="number" href="#L{number}" tabindex="-1" aria-hidden="true">'
        f"{number}</a>{_mark(named.get(number))}{line}\n</span>"
        for number, line in enumerate(lines, 1)
    )
    name = html.escape(source)
    return (
        f'<h1 class="file">{html.escape(file.name)}</h1>\n<p><code>{name}</code></p>\n'
        f'<div class="block view"><pre><code>{numbered}</code></pre></div>\n'
    )


def definitions(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of the last definition of each name at the top of a module."""
    found = {match[1]: text.count("\n", 0, match.start()) + 1 for match in _DEFINITION.finditer(text)}
    yield from ((number, name) for name, number in found.items())


def _mark(name: str | None) -> str:
    return f'<span id="{name}"></span>' if name else ""
