"""Programs of the suite, built from Kubernetes' Go module at its published version.

About ten minutes of processor time if Go's cache is empty. `e2e.test` is the suite, `agnhost` runs in most of its Pods.
All programs are built with the flags that change compiled packages, so that Go compiles each package once.
"""

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.e2e.conformance import cache

VERSION: Final = "1.36.0"
SUITE: Final = "e2e.test"
_MODULE: Final = "k8s.io/kubernetes"
_PACKAGES: Final = {
    SUITE: f"{_MODULE}/test/e2e",
    "agnhost": f"{_MODULE}/test/images/agnhost",
    "nnp": f"{_MODULE}/test/images/nonewprivs",
    "kubectl": f"{_MODULE}/cmd/kubectl",
    "sample-apiserver": "k8s.io/sample-apiserver",
}
_PAUSE: Final = Path(__file__).parent / "pause" / "main.go"
PROGRAMS: Final = (*_PACKAGES, "pause")
_BUILD: Final = ("go", "build", "-trimpath", f"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v{VERSION}")
_BUILD_SUITE: Final = ("go", "test", "-c", "-vet=off", "-trimpath", "-ldflags=-s -w")


def key() -> str:
    """Return a hash of all that decides the programs, except Go itself."""
    commands = [*_BUILD, *_BUILD_SUITE, *(f"{name}={package}" for name, package in _PACKAGES.items())]
    return cache.key(*commands, _PAUSE.read_bytes())


def sources(go: str = "go") -> Path:
    """Return the directory of Kubernetes' module, downloaded if needed. Raises `UnavailableError`."""
    _download([go, "mod", "download", f"{_MODULE}@v{VERSION}"], Path.cwd(), os.environ)
    found = subprocess.run([go, "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
    return Path(found) / f"{_MODULE}@v{VERSION}"


def build(directory: Path, report: Callable[[str], None], names: Sequence[str] = PROGRAMS) -> None:
    """Build the programs that the directory does not have. Raises `UnavailableError`, `CalledProcessError`.

    Other runs never see a part of a program.
    """
    missing = [name for name in names if not (directory / name).exists()]
    if not missing:
        return
    directory.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    with cache.unfinished(directory.parent) as module:
        _write_module(module)
        packages = [_PACKAGES[name] for name in missing if name in _PACKAGES]
        report("downloading Go modules that are not in Go's cache")
        _download(["go", "list", "-deps", "-test", *packages], module, environment)
        for number, name in enumerate(missing, 1):
            report(f"building {name} ({number} of {len(missing)}; e2e.test and agnhost take minutes)")
            command = [*(_BUILD_SUITE if name == SUITE else _BUILD), "-o", str(module / name)]
            command.append(_PACKAGES.get(name, str(_PAUSE)))
            subprocess.run(command, cwd=module, env=environment, check=True, stdout=subprocess.DEVNULL)
            (module / name).rename(directory / name)


def _download(command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise cache.UnavailableError(f"Go modules cannot be downloaded: {done.stderr.strip()[-500:]}")


def _write_module(directory: Path) -> None:
    """Write a module in which Kubernetes' own modules have the published versions."""
    kubernetes = sources()
    staging = re.findall(r"^\s*(k8s\.io/\S+) => \./staging", (kubernetes / "go.mod").read_text(), re.MULTILINE)
    replaced = "".join(f"\t{name} => {name} v0.{VERSION.partition('.')[2]}\n" for name in staging)
    (directory / "go.mod").write_text(
        f"module conformance\n\ngo 1.26.0\n\nrequire {_MODULE} v{VERSION}\n\nreplace (\n{replaced})\n"
    )
    (directory / "go.sum").write_bytes((kubernetes / "go.sum").read_bytes())
