"""Processes that can import only the packages of given requirements, as if nothing else were installed."""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

_BLOCKER = """
import sys
from importlib.abc import MetaPathFinder

class Blocker(MetaPathFinder):
    blocked = frozenset({blocked!r})

    def find_spec(self, name, path=None, target=None):
        if name in self.blocked:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def canonical(name: str) -> str:
    """Return the normal form of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def closure(requirement: str) -> frozenset[str]:
    """Return the names of a requirement's distributions, with all that they require here."""
    desired, found = [(canonical(Requirement(requirement).name), frozenset(Requirement(requirement).extras))], set()
    while desired:
        name, extras = desired.pop()
        if (name, extras) in found:
            continue
        found.add((name, extras))
        for text in distribution(name).requires or ():
            required = Requirement(text)
            marker = required.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in (extras or {""})):
                desired.append((canonical(required.name), frozenset(required.extras)))
    return frozenset(name for name, _ in found)


def blocked(requirements: Iterable[str]) -> list[str]:
    """Return the installed packages that do not belong to these requirements."""
    allowed = {name for requirement in requirements for name in closure(requirement)} | {"sampan"}
    names = [
        package
        for package, owners in packages_distributions().items()
        if not allowed.intersection(map(canonical, owners))
    ]
    return sorted([*names, *([] if "protobuf" in allowed else ["google.protobuf"])])


def environment(folder: Path, requirements: Iterable[str], inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of such a process and its children. `folder`: empty directory for its files."""
    (folder / "sitecustomize.py").write_text(_BLOCKER.format(blocked=blocked(requirements)))
    return {**inherited, "PYTHONPATH": str(folder)}


def output(code: str, variables: Mapping[str, str]) -> str:
    """Run Python code in such a process and return what it prints. Errors of the code are in the failure's text."""
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
