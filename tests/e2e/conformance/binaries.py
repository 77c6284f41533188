"""Programs of the suite, built from Kubernetes' Go module at its published version.

About ten minutes of processor time if Go's cache is empty. `e2e.test` is the suite, `agnhost` runs in most of its Pods.
All programs are built with the flags that change compiled packages, so that Go compiles each package once.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.e2e.conformance import cache

VERSION: Final = "1.36.0"
"""The version that Sampan serves, and whose tests run unless another patch of it is chosen."""
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
_BUILD: Final = ("go", "build", "-trimpath")
_BUILD_SUITE: Final = ("go", "test", "-c", "-vet=off", "-trimpath", "-ldflags=-s -w")


def key(version: str = VERSION) -> str:
    """Return a hash of all that decides the programs, except Go itself."""
    commands = [*_build(version), *_BUILD_SUITE, *(f"{name}={package}" for name, package in _PACKAGES.items())]
    return cache.key(*commands, _PAUSE.read_bytes())


def sources(version: str = VERSION) -> Path:
    """Return the directory of Kubernetes' module, downloaded if needed. Raises `UnavailableError`."""
    return module(f"{_MODULE}@v{version}")


def module(name: str) -> Path:
    """Return the directory of a Go module, downloaded if needed. `name`: with its version.

    Raises `UnavailableError`.
    """
    download(["go", "mod", "download", name], Path.cwd(), os.environ)
    found = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
    return Path(found) / name


def newest() -> str:
    """Return the newest patch of the version that Go's module proxy lists. Raises `UnavailableError`.

    A list may lack the last one, which the proxy nevertheless has.
    """
    minor = VERSION.rpartition(".")[0]
    with tempfile.TemporaryDirectory() as directory:
        command = ["go", "list", "-m", "-f={{.Version}}", f"{_MODULE}@v{minor}"]
        return download(command, Path(directory), os.environ).strip().removeprefix("v")


def build(
    directory: Path, report: Callable[[str], None], names: Sequence[str] = PROGRAMS, version: str = VERSION
) -> None:
    """Build the programs that the directory does not have. Raises `UnavailableError`, `CalledProcessError`.

    Other runs never see a part of a program.
    """
    missing = [name for name in names if not (directory / name).exists()]
    if not missing:
        return
    directory.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    with cache.unfinished(directory.parent) as work:
        _write_module(work, version)
        packages = [_PACKAGES[name] for name in missing if name in _PACKAGES]
        report("downloading Go modules that are not in Go's cache")
        download(["go", "list", "-deps", "-test", *packages], work, environment)
        for number, name in enumerate(missing, 1):
            report(f"building {name} ({number} of {len(missing)}; e2e.test and agnhost take minutes)")
            command = [*(_BUILD_SUITE if name == SUITE else _build(version)), "-o", str(work / name)]
            command.append(_PACKAGES.get(name, str(_PAUSE)))
            subprocess.run(command, cwd=work, env=environment, check=True, stdout=subprocess.DEVNULL)
            (work / name).rename(directory / name)


def download(command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> str:
    """Run a command of Go that downloads modules, and return its output. Raises `UnavailableError`."""
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise cache.UnavailableError(f"Go modules cannot be downloaded: {done.stderr.strip()[-500:]}")
    return done.stdout


def _build(version: str) -> Sequence[str]:
    return (*_BUILD, f"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v{version}")


def _write_module(directory: Path, version: str) -> None:
    """Write a module in which Kubernetes' own modules have the published versions."""
    kubernetes = sources(version)
    staging = re.findall(r"^\s*(k8s\.io/\S+) => \./staging", (kubernetes / "go.mod").read_text(), re.MULTILINE)
    replaced = "".join(f"\t{name} => {name} v0.{version.partition('.')[2]}\n" for name in staging)
    (directory / "go.mod").write_text(
        f"module conformance\n\ngo 1.26.0\n\nrequire {_MODULE} v{version}\n\nreplace (\n{replaced})\n"
    )
    (directory / "go.sum").write_bytes((kubernetes / "go.sum").read_bytes())
