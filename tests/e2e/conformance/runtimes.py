"""containerd and runc for a whole run, built from their Go modules.

Distributions have older ones: a test of image volumes needs containerd 2.1. The sample uses what is installed.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.e2e.conformance import binaries, cache

_MODULE: Final = "github.com/containerd/containerd/v2"


@dataclass(frozen=True)
class _Module:
    """Go module with programs."""

    path: str
    version: str
    programs: Mapping[str, str]
    """Package of each program, within the module."""
    flags: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


_RUNC: Final = _Module(
    "github.com/opencontainers/runc", "v1.4.3", {"runc": "."}, ("-tags=seccomp", "-ldflags=-s -w"), {"CGO_ENABLED": "1"}
)
_CONTAINERD: Final = _Module(
    _MODULE,
    "v2.3.7",
    {name: f"./cmd/{name}" for name in ("containerd", "containerd-shim-runc-v2", "ctr")},
    (f"-ldflags=-s -w -X {_MODULE}/version.Version=v2.3.7",),
    {"CGO_ENABLED": "0"},
)
_MODULES: Final = (_RUNC, _CONTAINERD)
PROGRAMS: Final = tuple(name for module in _MODULES for name in module.programs)
PACKAGES: Final = {"gcc": "gcc", "pkg-config": "pkg-config", "/usr/include/seccomp.h": "libseccomp-dev"}
"""Programs and files that building needs, and the Debian package of each."""


def key() -> str:
    """Return a hash of all that decides the programs, except Go, the C compiler and libseccomp."""
    return cache.key(*(repr(module) for module in _MODULES))


def build(directory: Path, report: Callable[[str], None]) -> None:
    """Build the programs that the directory does not have. Raises `UnavailableError`, `CalledProcessError`.

    Other runs never see a part of a program.
    """
    missing = {name: module for module in _MODULES for name in module.programs if not (directory / name).exists()}
    if not missing:
        return
    directory.mkdir(parents=True, exist_ok=True)
    with cache.unfinished(directory.parent) as work:
        for name, module in missing.items():
            report(f"building {name} {module.version}")
            source = binaries.module(f"{module.path}@{module.version}")
            environment = {**os.environ, **module.environment, "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
            command = ["go", "build", "-trimpath", *module.flags, "-o", str(work / name), module.programs[name]]
            binaries.download(["go", "list", "-deps", *module.flags, module.programs[name]], source, environment)
            subprocess.run(command, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)
            (work / name).rename(directory / name)
