"""Section of CHANGELOG.md for one version."""

import re


def section_of(changelog: str, version: str) -> str:
    """Return the text of the version's section, with its heading. Raises `LookupError`."""
    sections = re.split(r"^(?=## )", changelog, flags=re.MULTILINE)[1:]
    for section in sections:
        if section.removeprefix("## ").split()[0] == version:
            return section.strip() + "\n"
    known = ", ".join(section.removeprefix("## ").split()[0] for section in sections)
    raise LookupError(
        f"CHANGELOG.md has no section for {version}, the version in src/sampan/__init__.py; it has {known}"
    )
