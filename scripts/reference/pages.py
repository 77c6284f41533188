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
    is_property,
    members_of,
    module_doc,
    public_names,
)

FOLDER: Final = SOURCE.parent / "docs" / "reference"
PACKAGES: Final = {
    "sampan.operator": "queues, controllers, the manager, the process of an operator",
    "sampan.operator.clusters": "one operator for several clusters",
    "sampan.operator.webhook": "admission, conversion and authentication webhooks, and their certificates",
    "sampan.client": "clients of any Kubernetes",
    "sampan.client.config": "kubeconfig files and credentials",
    "sampan.informer": "caches that follow the server",
    "sampan.resource": "kinds declared as Python classes, and their CRDs",
    "sampan.core.settings": "settings that become flags",
    "sampan.testing": "clusters in the process, virtual time, expectations",
    "sampan.testing.explore": "one fault at each moment of a scenario",
    "sampan.testing.faults": "faults of single requests",
    "sampan.testing.generated": "objects and campaigns from schemas",
    "sampan.test_server": "servers with an address, for tests in any language",
}
"""Public packages in the order of the index, with their contents."""
_NOTE: Final = "<!-- Written by `make reference` from the docstrings. Change those. -->\n"
_WIDTH: Final = 100


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    return {"README.md": _index(), **{f"{package}.md": page_of(package) for package in PACKAGES}}


def page_of(package: str) -> str:
    """Return the page of a package: its docstring, and a section for each name in `__all__`."""
    found = [definition_of(package, name) for name in sorted(public_names(package), key=str.lower)]
    lines = [_NOTE, f"# {package}", "", markdown(module_doc(package)), "", "| name | purpose |", "|---|---|"]
    lines += [f"| [`{each.name}`](#{each.name.lower()}) | {_first_line(each.doc)} |" for each in found]
    for each in found:
        lines += ["", *_section(each)]
    return "\n".join(lines).rstrip() + "\n"


def _index() -> str:
    rows = [f"| [{package}]({package}.md) | {about} |" for package, about in PACKAGES.items()]
    about = "Every public name with its signature and docstring. [Operators](../operators.md) is the place to start."
    return "\n".join([_NOTE, "# API reference", "", about, "", "| package | content |", "|---|---|", *rows]) + "\n"


def _section(definition: Definition) -> Iterator[str]:
    node = definition.node
    yield from (f"## {definition.name}", "", "```python", _signature(definition), "```", "")
    yield markdown(definition.doc)
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
