"""`config_text`: settings as a configuration file with comments."""

import json
import re
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from sampan.core.settings import ListOf, Setting
from sampan.core.settings.configuration import DEFAULT, Configuration
from sampan.core.settings.tree import value_at

_WIDTH: Final = 110
_PLAIN: Final = re.compile(r"[A-Za-z0-9/_.][A-Za-z0-9/_.:+-]*(?<!:)")
"""Texts that YAML reads as one plain scalar."""
_WORDS: Final = frozenset(("null", "Null", "NULL"))


def config_text(configuration: Configuration, effective: Any, directory: Path) -> str:
    """Return a file with all settings; reading it gives the same settings.

    `effective` has the values. They differ from those of `configuration` where an option implies others. Relative paths
    are relative to `directory`.
    """
    shown = [option for option in configuration.options if option.path]
    titles = list(dict.fromkeys(option.group for option in shown))
    shown.sort(key=lambda option: titles.index(option.group))
    lines = ["# Settings for `sampan up --config FILE`."]
    for title, options in groupby(shown, lambda option: option.group):
        lines += ["", f"### {title}"]
        for option in options:
            lines += ["", *_described(option), *_setting(option, configuration, effective, directory)]
    return "\n".join(lines) + "\n"


def _described(option: Setting) -> list[str]:
    default = f" Default: {option.default_text}." if option.default_text else ""
    return [f"# {line}" for line in textwrap.wrap(option.help + default, _WIDTH - 2, break_on_hyphens=False)]


def _setting(option: Setting, configuration: Configuration, effective: Any, directory: Path) -> Iterator[str]:
    given = configuration.given.get(option.name)
    try:
        value = value_at(effective, option.path)
    except LookupError as error:  # option of an engine that is not in use
        yield f"# {option.name}: {option.kind.metavar}  # not used: {error}"
        return
    if value == option.default and value in (None, "", ()):
        yield f"# {option.name}: {option.kind.metavar}"
        return
    if value != value_at(configuration.settings, option.path):
        source = "implied by read-only"
    else:
        source = DEFAULT if given is None else given.source
    yield f"{option.name}: {_yaml(option, option.kind.relocate(value, directory))}  # {source}"


def _yaml(option: Setting, value: Any) -> str:
    kind = option.kind
    if isinstance(kind, ListOf):
        return f"[{', '.join(map(_scalar, kind.write_items(value)))}]"
    return _scalar("" if value is None else kind.write(value))


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text not in _WORDS else json.dumps(text, ensure_ascii=False)
