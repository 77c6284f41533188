"""Files of a new project: what `sampan init` writes."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sampan.project.templates.text import Files, FileText

_IGNORED: Final = "__pycache__/\n*.egg-info/\n.venv/\n.mypy_cache/\n.pytest_cache/\n.ruff_cache/\n.sampan/run/\ndist/\n"


def new_project_files(inputs: Mapping[str, Any]) -> Files:
    """Return the files. `inputs`: name, package, group, python, license, ci, wheels."""
    package = inputs["package"]
    files = {
        "pyproject.toml": FileText(_pyproject(inputs), "settings of the project and of all its tools"),
        "README.md": FileText(_readme(inputs), "first steps for a reader of the project", optional=True),
        ".gitignore": FileText(_IGNORED, "what git leaves out", optional=True),
        f"src/{package}/__init__.py": FileText(f'"""The operator {inputs["name"]}."""\n', "the import package"),
        f"src/{package}/__main__.py": FileText(_main(inputs), f"`python -m {package}` runs the operator"),
        f"src/{package}/app.py": FileText(_operator(package), "finds the controllers of all kinds"),
        f"src/{package}/py.typed": FileText("", "type checkers read the annotations of the package"),
        "tests/test_operator.py": FileText(_test(package), "test of the operator as a whole"),
    }
    if inputs["ci"] == "github":
        files[".github/workflows/ci.yml"] = FileText(_github(inputs), "GitHub runs the checks for each change")
    if inputs["ci"] == "gitlab":
        files[".gitlab-ci.yml"] = FileText(_gitlab(inputs), "GitLab runs the checks for each change")
    return files


def tool_tables(inputs: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of pyproject.toml for Sampan and the tools, by their name."""
    wheels, source = inputs["wheels"], "." if inputs.get("flat") else "src"
    checked = inputs["package"] if inputs.get("flat") else source
    version = inputs["python"].replace(".", "")
    tables = {
        "tool.sampan": f'group = "{inputs["group"]}"\npackage = "{inputs["package"]}"\n',
        "tool.pytest.ini_options": f'testpaths = ["tests"]\npythonpath = ["{source}"]\naddopts = "--strict-markers"\n',
        "tool.mypy": f'strict = true\nfiles = ["{checked}", "tests"]\nmypy_path = "{source}"\n',
        "tool.ruff": f'line-length = 120\nsrc = ["{source}"]\ntarget-version = "py{version}"\n',
        "tool.ruff.lint": 'select = ["E", "F", "W", "I", "B", "UP"]\n',
    }
    if wheels:
        tables["tool.uv"] = f'find-links = ["{wheels}"]\n'
    return tables


def _pyproject(inputs: Mapping[str, Any]) -> str:
    license = f'license = "{inputs["license"]}"\n' if inputs["license"] else ""
    tables = "\n".join(f"[{name}]\n{text}" for name, text in tool_tables(inputs).items())
    return f"""\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "{inputs["name"]}"
version = "0.1.0"
description = "A Kubernetes operator"
readme = "README.md"
requires-python = ">={inputs["python"]}"
{license}dependencies = ["{inputs["requirement"]}"]

[project.optional-dependencies]
dev = ["mypy>=1.14", "pytest>=8.3", "ruff>=0.9", "{_with_build(inputs["requirement"])}"]

[tool.hatch.build.targets.wheel]
packages = ["src/{inputs["package"]}"]

{tables}"""


def _with_build(requirement: str) -> str:
    """Return the requirement with what `sampan build` needs."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None
    return f"{name[0]}[build]{requirement[name.end() :]}"


def _readme(inputs: Mapping[str, Any]) -> str:
    name, package, wheels = inputs["name"], inputs["package"], inputs["wheels"]
    links = f"--find-links {wheels} " if wheels else ""
    return f"""\
# {name}

A Kubernetes operator in Python, made with Sampan.

    python3 -m venv .venv && . .venv/bin/activate
    pip install {links}-e '.[dev]'
    sampan create api --kind Boat --field 'length:int>0'
    sampan test                     # or: pytest
    sampan ci                       # all checks, as CI runs them
    sampan run                      # a server in memory with the operator; a saved file takes effect

| file | content |
|---|---|
| `src/{package}/KIND/v1.py` | the kind: its fields and their rules |
| `src/{package}/KIND/reconcile.py` | makes the actual state match the spec |
| `tests/` | tests with a whole API server in the process |
| `samples/` | objects to try |

Check a change with `sampan test`, `ruff check .`, `ruff format --check .` and `mypy`.
"""


def _main(inputs: Mapping[str, Any]) -> str:
    name, package = inputs["name"], inputs["package"]
    return f'''\
"""Runs the operator: python -m {package} --help."""

from sampan.operator import main

from {package}.app import set_up

if __name__ == "__main__":
    main(set_up, name="{name}")
'''


def _operator(package: str) -> str:
    return f'''\
"""The operator: the controllers of all kinds."""

from sampan.operator import Manager, add_parts

import {package}


def set_up(manager: Manager) -> None:
    """Call `set_up` of each module in the folders of this package."""
    add_parts(manager, {package})
'''


def _test(package: str) -> str:
    return f'''\
"""Test of the operator as a whole."""

from sampan.operator import Manager
from sampan.testing import Cluster

from {package}.app import set_up


async def test_all_parts_fit_together(cluster: Cluster) -> None:
    set_up(Manager(cluster.admin()))
'''


_PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
# A tag can be moved to other code, a commit cannot.
_CHECKOUT: Final = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2"
_SETUP_PYTHON: Final = "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065  # v5.6.0"


def _install(inputs: Mapping[str, Any]) -> str:
    links = f"--find-links {inputs['wheels']} " if inputs["wheels"] else ""
    return f"pip install {links}-e '.[dev]'"


def _pythons(inputs: Mapping[str, Any]) -> str:
    """Return the versions of Python to test, as a list in YAML."""
    oldest = int(inputs["python"].split(".")[1])
    found = [each for each in _PYTHONS if int(each.split(".")[1]) >= oldest] or [inputs["python"]]
    return ", ".join(f'"{each}"' for each in found)


def _github(inputs: Mapping[str, Any]) -> str:
    return f"""\
name: CI
on: [push, pull_request]
permissions:
  contents: read
jobs:
  checks:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    strategy:
      fail-fast: false
      matrix:
        python: [{_pythons(inputs)}]
    steps:
      - uses: {_CHECKOUT}
        with:
          persist-credentials: false
      - uses: {_SETUP_PYTHON}
        with:
          python-version: ${{{{ matrix.python }}}}
          cache: pip
      - run: {_install(inputs)}
      - run: sampan ci
"""


def _gitlab(inputs: Mapping[str, Any]) -> str:
    return f"""\
checks:
  image: python:$PYTHON
  timeout: 10 minutes
  parallel:
    matrix:
      - PYTHON: [{_pythons(inputs)}]
  script:
    - {_install(inputs)}
    - sampan ci
"""
