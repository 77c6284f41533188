"""Programs on a page's machines besides those of this computer: `sampan` of this checkout, and `helm`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.e2e.helm_program import helm_program
from tests.journeys.previous import previous
from tests.machines import Machine

_SAMPAN: Final = """#!/bin/sh
# Containers belong to a cgroup that disappears with the machine.
case "$1" in
  up) case "$*" in *"--node-runtime cri"*) set -- "$@" --cgroup-root /{cgroup};; esac;;
  leave) set -- "$@" --cgroup-root /{cgroup};;
  node|join) case "$*" in *"--runtime cri"*) set -- "$@" --cgroup-root /{cgroup};; esac;;
esac
export PYTHONPATH="{packages}${{PYTHONPATH:+:$PYTHONPATH}}"
exec {python} -m sampan.cli "$@"
"""


def write_programs(directory: Path, machine: Machine, parts: Sequence[str]) -> None:
    """Write the programs into a directory of PATH. `parts`: those of the machine in the page's table."""
    directory.mkdir()
    versions: dict[str, Path | str] = {"sampan": ""}
    if "previous sampan" in parts:
        versions["sampan-previous"] = previous()
    for name, packages in versions.items():
        path = directory / name
        path.write_text(_SAMPAN.format(cgroup=machine.cgroup, python=sys.executable, packages=packages))
        path.chmod(0o755)
    if "helm" in parts:
        (directory / "helm").symlink_to(helm_program())
