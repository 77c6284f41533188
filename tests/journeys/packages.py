"""`write_packages`: what a machine without internet has, so that a user can install Sampan and build an image there."""

import datetime as dt
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from scripts.release.image import ImageError, make_base, python_of

from tests.journeys.wheelhouse import write_wheels
from tests.machines import Machine, require_program

WHEELS: Final = "wheels"
BASE: Final = "base.tar"
_CREATED: Final = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
_FUNCTION: Final = """() {{
  if [ "$1" = up ]; then set -- "$@" --cgroup-root /{cgroup}; fi
  command sampan "$@"
}}"""
"""The user's own `sampan` is first on PATH after its installation, so a function adds the cgroup of the machine."""


def write_packages(home: Path, machine: Machine, parts: Sequence[str]) -> Mapping[str, str]:
    """Write the parts `wheels` and `base.tar` to the home directory, and return variables of the shell."""
    if BASE in parts:
        _write_base(home / BASE)
    if WHEELS not in parts:
        return {}
    write_wheels(home / WHEELS)
    (machine.root / "bin" / "python3").symlink_to(sys.executable)
    return {
        "BASH_FUNC_sampan%%": _FUNCTION.format(cgroup=machine.cgroup),
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(machine.root / "uv"),
    }


def _write_base(place: Path) -> None:
    require_program("mmdebstrap")
    try:
        make_base(place, _CREATED)
    except ImageError as error:
        pytest.skip(f"no base image: {error}")
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    if own not in (found := str(python_of(place))):
        pytest.skip(f"the wheels are for Python {own}, and the base has {found}")
