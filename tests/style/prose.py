"""Checks of English text: the rules of plain English that a program can see.

`python -m tests.style.prose PATH…` lists the faults of files and folders.
A rule takes a text and returns the offending phrases. `RULES` maps each kind of text to its rules.
"""

import ast
import inspect
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.style.sources import ROOT, parse, text_of

SENTENCE_WORDS_MAX: Final = 25
LITERAL_WORDS_MIN: Final = 4
LOG_METHODS: Final = {"debug", "info", "warning", "error", "exception", "critical"}

_OPENING = re.compile(r"(What|Who|Whose|Whom|How|Whether|Of|Which|Where|When|Why|The same|Nobody|Somebody)\b")
_WORDS = re.compile(
    r"\b(anew|mend(?:s|ed)?|thereof|of (?:its|their|his|one's) own|nobody|somebody|who|whoever|whom"
    r"|tells?|told|asks?|asked|asking|says?|said|hears?|heard|knows|knew|believes?|believed|heeds?|heeded)\b",
    re.IGNORECASE,
)
_READER = re.compile(
    r"\b(simply|just|easily|obviously|of course|trivially|merely|[Ww]e|[Oo]urs?|us|[Ll]et's|[Ll]et us)\b"
)
_QUOTED = re.compile(r"```.*?```|``[^`]*``|`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”", re.DOTALL)
_MARKDOWN_CODE = re.compile(r"^```[\s\S]*?^```|^ {4}(?! *(?:-|\d+\.) ).*$", re.MULTILINE)
_INDENTED = re.compile(r"^ {4}.*$|\x08[\s\S]*?(?:\n\s*\n|\Z)", re.MULTILINE)
"""Code: indented lines, and blocks that click prints literally."""
_SENTENCE_END = re.compile(
    r"(?:(?<=[.:;!?])|(?<=[.:;!?][)*])|(?<=[.:;!?]\*\*))\s+|(?<=[。；：！？])|\n\s*\n|\n\s*(?=[-*|#>]|\d+\.)"
)
_DATA = re.compile(r"\ASELECT |\A[A-Z0-9 ]+\Z|\n[\s\S]*\n|\x00")
"""Literals that are no prose: SQL, lists of names, templates, tables."""
FIXED_TEXTS: Final = tuple((Path(__file__).parent / "fixed_texts.txt").read_text().splitlines())
"""Beginnings of literals with fixed words: messages that clients match, and data of protocols."""
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|pragma|!|fmt:|ruff:|nosec)")

Rule = Callable[[str], list[str]]


class Text(NamedTuple):
    """A piece of English and where it stands."""

    kind: str
    line: int
    text: str


class Fault(NamedTuple):
    """A phrase that breaks a rule."""

    path: str
    line: int
    rule: str
    phrase: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.phrase}"


def opening(text: str) -> list[str]:
    """Refuse a text that opens with a question word."""
    found = _OPENING.match(text.strip())
    return [found.group()] if found else []


def words(text: str) -> list[str]:
    """Refuse words that are out of use, and verbs and pronouns that make a person of software."""
    return [found.group() for found in _WORDS.finditer(_QUOTED.sub("`x`", text))]


def sentences(text: str) -> list[str]:
    """Refuse sentences that are too long."""
    parts = _SENTENCE_END.split(_QUOTED.sub("x", text))
    return [f"{len(part.split())} words" for part in parts if len(part.split()) > SENTENCE_WORDS_MAX]


def reader(text: str) -> list[str]:
    """Refuse what makes a reader feel slow, and `we`: a page speaks to one reader, `you`."""
    return [found.group() for found in _READER.finditer(_QUOTED.sub("x", text))]


def event(text: str) -> list[str]:
    """Refuse a log message that is no event, or is written like a sentence of a document."""
    found = []
    if text.endswith("."):
        found.append("ends with a period")
    if re.match(r"[A-Z][a-z]+ ", text):
        found.append("begins with a capital letter")
    if not re.search(r"[A-Za-z]{2,} ", text.replace("%s", "")):
        found.append("names no event")
    return found


RULES: Final[dict[str, dict[str, Rule]]] = {
    "docstring": {"opening": opening, "word": words, "sentence": sentences},
    "comment": {"word": words},
    "log": {"word": words, "event": event},
    "help": {"opening": opening, "word": words, "sentence": sentences},
    "document": {"word": words, "sentence": sentences, "reader": reader},
    "literal": {"opening": opening, "word": words, "sentence": sentences},
}


def faults_of(path: Path, root: Path) -> Iterator[Fault]:
    """Yield the faults of a Python file or a Markdown document."""
    texts = document_texts(path) if path.suffix == ".md" else python_texts(path)
    if path.is_relative_to(root / "src") and path.suffix == ".py":
        texts = itertools.chain(texts, literal_texts(path))
    for kind, line, text in texts:
        for name, rule in RULES[kind].items():
            for phrase in rule(text):
                yield Fault(path.relative_to(root).as_posix(), line, f"{kind} {name}", phrase)


def document_texts(path: Path) -> Iterator[Text]:
    """Yield the paragraphs of a document, without code, tables and link targets."""
    text = _MARKDOWN_CODE.sub(lambda block: "\n" * block.group().count("\n"), text_of(path))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        if paragraph.strip() and not paragraph.lstrip().startswith("|"):
            yield Text("document", line, paragraph)
        line += paragraph.count("\n")


def python_texts(path: Path) -> Iterator[Text]:
    """Yield docstrings (also those of attributes), comments, log messages and help texts."""
    source = text_of(path)
    for node in ast.walk(parse(source)):
        yield from _docstrings(node)
        if isinstance(node, ast.Call):
            yield from _call_texts(node)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            yield Text("comment", token.start[0], token.string[1:])


def literal_texts(path: Path) -> Iterator[Text]:
    """Yield string literals of four or more words, such as messages and descriptions; values of f-strings are `x`."""
    tree = parse(text_of(path))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Constant)]
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            text = "".join(_constant(part) or "`x`" for part in node.values)
        elif id(node) not in parts and (constant := _constant(node)) is not None:
            text = constant
        else:
            continue
        if len(text.split()) >= LITERAL_WORDS_MIN and not _DATA.search(text) and not text.startswith(FIXED_TEXTS):
            yield Text("literal", node.lineno, text)


def _docstrings(node: ast.AST) -> Iterator[Text]:
    body = getattr(node, "body", None)
    for statement in body if isinstance(body, list) else []:
        if isinstance(statement, ast.Expr) and (text := _constant(statement.value)) is not None:
            yield Text("docstring", statement.lineno, _INDENTED.sub("", inspect.cleandoc(text)))


def _call_texts(node: ast.Call) -> Iterator[Text]:
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in LOG_METHODS and node.args and _is_log(function.value):
        text = _constant(node.args[0])
        if text is not None:
            yield Text("log", node.lineno, text)
    for keyword in node.keywords:
        text = _constant(keyword.value)
        if keyword.arg == "help" and text is not None:
            yield Text("help", node.lineno, text)


def _is_log(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id.lstrip("_").lower() in {"log", "logger"}


def _constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


if __name__ == "__main__":
    for argument in sys.argv[1:] or ["src"]:
        target = Path(argument).resolve()
        for file in [target] if target.is_file() else sorted([*target.rglob("*.py"), *target.rglob("*.md")]):
            for fault in faults_of(file, ROOT):
                print(fault)
