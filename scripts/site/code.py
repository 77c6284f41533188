"""Blocks of code as HTML, with a few classes for all languages: colours help to read, they do not explain."""

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    _TokenType,
)
from pygments.util import ClassNotFound

_CLASSES: Final[Sequence[tuple[_TokenType, str]]] = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "n"),
    (Name.Tag, "t"),
    (Name.Attribute, "t"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "f"),
    (Name.Variable, "v"),
    (Generic.Deleted, "d"),
    (Generic.Inserted, "i"),
)
_SHELL: Final = frozenset({"console", "sh", "bash", "shell"})
_HEREDOC: Final = re.compile(r"<<-?'?(\w+)'?")


def code_block(text: str, language: str) -> str:
    """Return a block of code. An indented block, without a language, has commands of a shell."""
    name = language or "text"
    if language in _SHELL and text.startswith("$ "):
        inner, kind = _session(text), "session"
    else:
        inner, kind = highlighted(text, name), "code"
    return f'<div class="block" data-kind="{kind}"><pre><code class="language-{name}">{inner}</code></pre></div>\n'


def highlighted(text: str, language: str) -> str:
    """Return code as HTML with classes."""
    lexer = _lexer(language)
    if lexer is None:
        return html.escape(text, quote=False)
    return "".join(_spans(text, lexer))


def _spans(text: str, lexer: Lexer) -> Iterator[str]:
    for token, value in lexer.get_tokens(text):
        name = next((name for kind, name in _CLASSES if _is_part(token, kind)), "")
        # A line may be cut out, so no span continues on the next one.
        lines = html.escape(value, quote=False).split("\n")
        yield "\n".join(f'<span class="{name}">{line}</span>' if name and line.strip() else line for line in lines)


def _is_part(token: _TokenType, kind: _TokenType) -> bool:
    """Return True for a kind of token, and for each of its parts."""
    return token[: len(kind)] == kind


def _session(text: str) -> str:
    """Return commands with their prompts, and output."""
    done: list[str] = []
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        if not lines[number].startswith("$ "):
            done.append(f'<span class="o">{html.escape(lines[number], quote=False)}</span>\n')
            number += 1
            continue
        end = _end_of_command(lines, number)
        command = "\n".join(
            [lines[number][2:], *(line.removeprefix(">").removeprefix(" ") for line in lines[number + 1 : end])]
        )
        shown = highlighted(command, "bash").rstrip("\n").replace("\n", f"\n{_prompt('> ')}")
        done.append(f'{_prompt("$ ")}<span class="command">{shown}</span>\n')
        number = end
    return "".join(done)


def _prompt(sign: str) -> str:
    return f'<span class="p" aria-hidden="true">{html.escape(sign)}</span>'


def _end_of_command(lines: Sequence[str], start: int) -> int:
    """Return the number of the line after a command, which may continue with a backslash or a here-document."""
    heredoc = _HEREDOC.search(lines[start])
    end = start + 1
    while end < len(lines):
        last = lines[end - 1]
        if heredoc and last.removeprefix("> ") == heredoc[1]:
            break
        if not heredoc and not last.endswith("\\") and not lines[end].startswith(">"):
            break
        end += 1
    return end


@lru_cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, ensurenl=False, stripnl=False)
    except ClassNotFound:
        return None
