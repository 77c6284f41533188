"""The real helm as a callable, built from its Go module once for all clones of a user."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.e2e.conformance import cache
from tests.e2e.go_build import build

MODULE: Final = Path(__file__).parent / "helm"
COMMAND_TIMEOUT_S: Final = 400.0
_KUBERNETES: Final = "1", "36"
"""Version for which charts are rendered without a server."""


def helm_program() -> Path:
    """Return the program. The first build takes minutes. Without Go or its modules, the test is skipped."""
    directory = cache.default(f"helm-{cache.key((MODULE / 'go.mod').read_bytes(), *_KUBERNETES)}")
    program = directory / "helm"
    if not program.exists():
        with cache.locked(directory, lambda text: None), cache.unfinished(directory) as work:
            if not program.exists():
                _build(work).rename(program)
    return program


def _build(folder: Path) -> Path:
    major, minor = _KUBERNETES
    version = " ".join(
        f"-X helm.sh/helm/v3/pkg/{package}.k8sVersion{part}={number}"
        for package in ("chartutil", "lint/rules")
        for part, number in (("Major", major), ("Minor", minor))
    )
    return build(MODULE, folder / "helm", "build", f"-ldflags=-s -w {version}", "helm.sh/helm/v3/cmd/helm")


@dataclass(frozen=True)
class Helm:
    """helm with a home for its caches, and perhaps a kubeconfig."""

    program: Path
    environment: Mapping[str, str]

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command, whatever its result is."""
        return subprocess.run(
            [self.program, *arguments],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )

    def __call__(self, *arguments: str) -> str:
        """Run a command that has to succeed, and return its output."""
        done = self.run(*arguments)
        assert done.returncode == 0, f"helm {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def fails(self, *arguments: str) -> str:
        """Run a command that has to fail, and return its error."""
        done = self.run(*arguments)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def template(self, chart: Path, *arguments: str, release: str, namespace: str) -> list[dict[str, Any]]:
        """Return the objects of a chart."""
        text = self("template", release, str(chart), "--namespace", namespace, *arguments)
        return [each for each in yaml.safe_load_all(text) if each is not None]
