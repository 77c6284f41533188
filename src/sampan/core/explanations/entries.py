"""Entries of entries.toml: the cause and the cure of each reason of the API, and of each exception of the toolkit."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_HERE: Final = "sampan.core.explanations"
_PACKAGE: Final = "sampan."


@dataclass(frozen=True, slots=True)
class Explanation:
    """Cause and cure of an error. `name` is a reason, such as Conflict, or a class with its package."""

    name: str
    cause: str
    cure: str


@cache
def texts() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the file: `reasons`, `causes` and `exceptions`, and for each name the texts `cause` and `cure`."""
    return tomllib.loads(files(_HERE).joinpath("entries.toml").read_text())


@cache
def explanations() -> Mapping[str, Explanation]:
    """Return the explanations of reasons and exceptions by their names, in the order of the file."""
    named = {**texts()["reasons"], **texts()["exceptions"]}
    return {name: Explanation(name, entry["cause"], entry["cure"]) for name, entry in named.items()}


def explanations_of(word: str) -> list[Explanation]:
    """Return the explanations for a name, or for its last part. Case does not count."""
    sought = word.lower()
    return [each for name, each in explanations().items() if sought in (name.lower(), short(name).lower())]


def short(name: str) -> str:
    """Return the last part of a name: NotSettled for sampan.testing.NotSettled."""
    return name.rpartition(".")[2]


def hint(error: BaseException) -> str:
    """Return the command that explains an error of Sampan; an empty text for an error without an explanation.

    It is in the error texts of pytest and of the `sampan` command.
    """
    own = [kind.__name__ for kind in type(error).__mro__ if kind.__module__.startswith(_PACKAGE)]
    reason = getattr(error, "reason", "")
    names = [reason, *own] if own and isinstance(reason, str) else own
    found = next((name for name in names if explanations_of(name)), "")
    return f"sampan errors {found} explains the error" if found else ""
