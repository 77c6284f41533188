"""CI and developers install the recorded versions, so that a release of a tool does not fail an unrelated change."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return found[0].replace("_", "-").replace(".", "-").lower()


def test_each_package_that_developers_install_has_a_recorded_version() -> None:
    lines = (ROOT / "packaging" / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if "==" not in line] == []
    extras = PROJECT["optional-dependencies"].values()
    required = {name_of(each) for each in [*PROJECT["dependencies"], *(one for extra in extras for one in extra)]}
    assert required - {name_of(line) for line in lines} == {"sampan"}
