"""Markdown pages of public packages."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from scripts.reference.definitions import (
    SOURCE,
    Definition,
    Function,
    constructor_of,
    definition_of,
    file_of,
    is_property,
    members_of,
    module_doc,
)
from scripts.reference.packages import PACKAGES, anchor_of, names_in_order
from scripts.reference.since import since

_FRONT_MATTER: Final = "---\nkind: reference\n---\n"
FOLDER: Final = SOURCE.parent / "docs" / "reference"
_NOTE: Final = "<!-- Written by `make reference` from the docstrings. Change those. -->\n"
_WIDTH: Final = 100
_DEPRECATED: Final = re.compile(r"^Deprecated since [\d.]+:", re.MULTILINE)
"""First words of the paragraph of a docstring that names what to use instead."""


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    found = {"README.md": _index(), **{f"{package}.md": page_of(package) for package in PACKAGES}}
    return {name: _FRONT_MATTER + text for name, text in found.items()}


def page_of(package: str) -> str:
    """Return the page of a package: its docstring, and a section for each name in `__all__`."""
    found = [definition_of(package, name) for name in names_in_order(package)]
    lines = [_NOTE, f"# {package}", "", markdown(module_doc(package)), "", "| name | purpose |", "|---|---|"]
    lines += [f"| [`{each.name}`](#{anchor_of(package, each.name)}) | {purpose(each)} |" for each in found]
    for each in found:
        lines += ["", *_section(each, since()[f"{package}.{each.name}"])]
    return "\n".join(lines).rstrip() + "\n"


def _index() -> str:
    rows = [f"| [{package}]({package}.md) | {about} |" for package, about in PACKAGES.items()]
    about = "Every public name with its signature and docstring. [Operators](../operators.md) is the place to start."
    return "\n".join([_NOTE, "# API reference", "", about, "", "| package | content |", "|---|---|", *rows]) + "\n"


def purpose(definition: Definition) -> str:
    """Return the first sentence of a docstring for a row of a table, with a mark if the name is deprecated."""
    return ("**Deprecated.** " if _DEPRECATED.search(definition.doc) else "") + _first_line(definition.doc)


def _section(definition: Definition, version: str) -> Iterator[str]:
    node = definition.node
    yield from (f"## {definition.name}", "", "```python", _signature(definition), "```", "")
    # GitHub ignores the anchor. The site has one for each definition.
    source = f"../../{file_of(definition.module).relative_to(SOURCE.parent).as_posix()}#{definition.name}"
    yield from (f"Since {version}. [Source]({source})", "", markdown(definition.doc))
    constructor = constructor_of(definition)
    if constructor is not None and constructor.doc:
        yield from ("", markdown(constructor.doc))
    members = members_of(definition)
    fields = [each for each in members if not isinstance(each.node, Function | ast.ClassDef) or is_property(each.node)]
    if fields:
        yield from ("", "| attribute | meaning |", "|---|---|")
        yield from (f"| `{_declared(each).replace('|', chr(92) + '|')}` | {_in_cell(each.doc)} |" for each in fields)
    for each in members:
        if isinstance(each.node, Function) and not is_property(each.node):
            yield from ("", f"**`{_shortened(each.node)}`**", "", markdown(each.doc))
    if isinstance(node, ast.ClassDef) and not definition.doc and not members:
        yield ""


def markdown(doc: str) -> str:
    """Return a docstring as Markdown: an indented block becomes a fenced one."""
    lines: list[str] = []
    fenced = False
    for line in doc.splitlines():
        indented = line.startswith("    ")
        if indented and not fenced and (not lines or not lines[-1]):
            lines.append("```")
            fenced = True
        elif fenced and line and not indented:
            end = len(lines)
            while not lines[end - 1]:
                end -= 1
            lines.insert(end, "```")
            fenced = False
        lines.append(line.removeprefix("    ") if fenced else line)
    return "\n".join([*lines, "```"] if fenced else lines)


def _signature(definition: Definition) -> str:
    node = definition.node
    if isinstance(node, Function):
        return _function(node)
    if not isinstance(node, ast.ClassDef):
        return ast.unparse(node)
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    head = f"class {node.name}({bases})" if bases else f"class {node.name}"
    constructor = constructor_of(definition)
    if constructor is None or not isinstance(constructor.node, Function):
        return head
    return f"{head}:\n    {_function(constructor.node, indent='    ')}"


def _function(node: Function, indent: str = "") -> str:
    """Return the signature, with one parameter a line if it is long."""
    prefix = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{prefix} {node.name}({ast.unparse(node.args)}){returns}"
    if len(line) + len(indent) <= _WIDTH:
        return line
    inner = "".join(f"{indent}    {each},\n" for each in _parameters(node.args))
    return f"{prefix} {node.name}(\n{inner}{indent}){returns}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    for each, default in zip(positional, [*defaults, *arguments.defaults], strict=True):
        yield ast.unparse(each) + (f"={ast.unparse(default)}" if default is not None else "")
    if arguments.vararg is not None:
        yield f"*{ast.unparse(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    for each, keyword in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield ast.unparse(each) + (f"={ast.unparse(keyword)}" if keyword is not None else "")
    if arguments.kwarg is not None:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _shortened(node: Function) -> str:
    """Return a method's signature in one line, without `self`."""
    prefix = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    parameters = [each for each in _parameters(node.args) if each.partition(":")[0] not in ("self", "cls")]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{prefix}{node.name}({', '.join(parameters)}){returns}"


def _declared(definition: Definition) -> str:
    node = definition.node
    if isinstance(node, ast.AnnAssign):
        value = f" = {ast.unparse(node.value)}" if node.value is not None and len(ast.unparse(node.value)) < 40 else ""
        return f"{definition.name}: {ast.unparse(node.annotation)}{value}"
    if isinstance(node, Function) and node.returns is not None:
        return f"{definition.name}: {ast.unparse(node.returns)}"
    return definition.name


def _in_cell(doc: str) -> str:
    return re.sub(r"\s+", " ", doc).replace("|", "\\|")


def _first_line(doc: str) -> str:
    text = _in_cell(doc.partition("\n\n")[0])
    return re.split(r"(?<=[.:]) ", text)[0].rstrip(":")
