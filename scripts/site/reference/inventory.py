"""`objects.inv`: the public names of the API reference, so that other projects can link to them (Sphinx, version 2)."""

import ast
import zlib
from collections.abc import Iterator
from typing import Final

from scripts.reference.definitions import Definition, Function, definition_of, members_of, public_names
from scripts.reference.packages import PACKAGES, anchor_of

from sampan import __version__

_HEAD: Final = """# Sphinx inventory version 2
# Project: Sampan
# Version: {version}
# The remainder of this file is compressed using zlib.
"""


def inventory() -> bytes:
    """Return the file. Its addresses are relative to the root of the site."""
    lines = "".join(f"{line}\n" for line in entries())
    return _HEAD.format(version=__version__).encode() + zlib.compress(lines.encode(), 9)


def entries() -> Iterator[str]:
    """Yield the lines: name, role, priority, address and text (`-`: the name)."""
    for package in PACKAGES:
        page = f"reference/{package}.html"
        yield f"{package} py:module 0 {page} -"
        for name in sorted(public_names(package)):
            definition = definition_of(package, name)
            address = f"{page}#{anchor_of(package, name)}"
            yield f"{package}.{name} py:{_role(definition)} 1 {address} -"
            for member in sorted(members_of(definition), key=lambda each: each.name):
                role = "method" if isinstance(member.node, Function) else "attribute"
                yield f"{package}.{name}.{member.name} py:{role} 1 {address} -"


def _role(definition: Definition) -> str:
    if isinstance(definition.node, ast.ClassDef):
        return "class"
    return "function" if isinstance(definition.node, Function) else "data"
