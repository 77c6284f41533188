"""Rights that operators use in many tests: each process of pytest appends them to its file in one directory."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sampan.testing.rights.privileges import Places, Privileges, Right


class _Use(msgspec.Struct, frozen=True):
    """Use of one right by one operator."""

    operator: str
    right: Right
    is_refused: bool
    namespaces: list[str]
    names: list[str]


def record_rights(directory: Path, privileges: Mapping[str, Privileges]) -> None:
    """Append the rights of the operators of one test. Raises `OSError`."""
    lines = [msgspec.json.encode(use) + b"\n" for operator, each in privileges.items() for use in _uses(operator, each)]
    with (directory / f"{os.getpid()}.jsonl").open("ab") as file:
        file.write(b"".join(lines))


def recorded_rights(directory: Path) -> dict[str, Privileges]:
    """Return the rights of each operator in all tests. Raises `OSError`."""
    found: dict[str, Privileges] = {}
    for file in sorted(directory.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            use = msgspec.json.decode(line, type=_Use)
            found[use.operator] = found.get(use.operator, _privileges()).joined(_of(use))
    return found


def _uses(operator: str, privileges: Privileges) -> Iterator[_Use]:
    for right in sorted(privileges.used | privileges.refused):
        namespaces, names = (sorted(each.get(right, ())) for each in (privileges.places, privileges.names))
        yield _Use(operator, right, right in privileges.refused, namespaces, names)


def _of(use: _Use) -> Privileges:
    places: Places = {use.right: frozenset(use.namespaces)}
    names: Places = {use.right: frozenset(use.names)}
    rights: dict[str, Any] = {"used": frozenset[Right](), "refused": frozenset[Right]()}
    rights["refused" if use.is_refused else "used"] = frozenset({use.right})
    return Privileges(**rights, places=places, names=names)


def _privileges() -> Privileges:
    return Privileges(frozenset(), frozenset())
