"""Hosts file. The comment of a line has its owner; other lines are copied unchanged.

The file is replaced by a rename, so a reader never finds half of it.
"""

import os
from pathlib import Path

from publications.targets.target import Entry, Unavailable

_MARK = "# publication "


class HostsFile:
    """Hosts file that this operator and people change."""

    has_ports = False

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self, name: str, owner: str) -> Entry:
        """Return the lines of a name."""
        found = [line for line in self._lines() if name in line.partition("#")[0].split()[1:]]
        owners = {line.partition(_MARK)[2].strip() for line in found}
        return Entry("".join(owners), frozenset(line.split()[0] for line in found), not found)

    async def write(self, name: str, owner: str, before: Entry, addresses: frozenset[str] | None) -> None:
        """Replace the lines of the owner."""
        lines = [line for line in self._lines() if line.partition(_MARK)[2].strip() != owner]
        lines += [f"{address} {name} {_MARK}{owner}" for address in sorted(addresses or ())]
        new = self._path.with_name(f".{self._path.name}.new")
        try:
            new.write_text("".join(f"{line}\n" for line in lines))
            os.replace(new, self._path)
        except OSError as error:
            raise Unavailable(f"{self._path}: {error.strerror}", after_s=5) from error

    def _lines(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []
