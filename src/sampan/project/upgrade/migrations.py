"""Steps of an upgrade that a merge of texts cannot make: renamed files, and rewritten code."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final


def _no_renames(inputs: Mapping[str, Any]) -> Mapping[str, str]:
    return {}


def _no_change(path: str, text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Migration:
    """A step to a version of the templates. It is idempotent: a second run changes nothing."""

    to: int
    """Version of the templates that needs it."""
    title: str
    """Line for the user."""
    renames: Callable[[Mapping[str, Any]], Mapping[str, str]] = _no_renames
    """Return the new path of each renamed file, for the inputs of a command."""
    rewrite: Callable[[str, str], str] = _no_change
    """Return the new text of a file, from its path and text. It gets the pristine text and that of the user."""


def _app_renamed(inputs: Mapping[str, Any]) -> Mapping[str, str]:
    folder = inputs["package"] if inputs.get("flat") else f"src/{inputs['package']}"
    return {f"{folder}/operator.py": f"{folder}/app.py"}


def _app_imported(path: str, text: str) -> str:
    return _OPERATOR_IMPORT.sub(r"\1.app", text) if path.endswith(".py") else text


_OPERATOR_IMPORT: Final = re.compile(r"^(\s*(?:from|import) (?!sampan\b)\w+)\.operator\b", re.MULTILINE)

MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(
        3,
        "operator.py is app.py now, because a file with that name hides Python's own module operator when it is run by "
        "its path; change imports of it in your own files",
        _app_renamed,
        _app_imported,
    ),
)
"""All steps, oldest first. docs/project-upgrades.md has a section for each."""
