"""Find the files of one Kubernetes version: in a checkout, or in the cache of Go modules."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

MODULES: Final = ("api", "apiextensions-apiserver", "apimachinery", "apiserver", "component-base", "kube-aggregator")
"""Modules that Kubernetes' repository keeps in `staging/src/k8s.io`; Go publishes them as version 0.x."""

_VERSION = re.compile(r"v?1\.(\d+)\.(\d+(?:-[\w.]+)?)")
_MINOR = re.compile(r'^\s*DefaultKubeBinaryVersion = "(1\.\d+)"', re.MULTILINE)

Json = dict[str, Any]


class SourceNotFound(Exception):
    """The files of a version are not where they were looked for. The message names the remedy."""


@dataclass(frozen=True)
class Sources:
    """The files of one Kubernetes version.

    `kubernetes` is the root of the repository, `modules` maps the names in `MODULES` to their folders.
    """

    kubernetes: Path
    modules: dict[str, Path]

    @cached_property
    def minor(self) -> str:
        """The minor version that the sources declare, such as `1.36`."""
        text = (self.modules["component-base"] / "version/base.go").read_text()
        match = _MINOR.search(text)
        if match is None:
            raise SourceNotFound("component-base version/base.go declares no DefaultKubeBinaryVersion")
        return match[1]

    @cached_property
    def definitions(self) -> dict[str, Json]:
        """Published definitions by name, from the OpenAPI v2 document."""
        document = json.loads((self.kubernetes / "api/openapi-spec/swagger.json").read_text())
        found: dict[str, Json] = document["definitions"]
        return found

    def folder_of(self, path: str) -> Path | None:
        """Return the folder of a Go package, such as `k8s.io/api/core/v1`; None if it is in no module at hand."""
        host, _, rest = path.partition("/")
        module, _, folder = rest.partition("/")
        return self.modules[module] / folder if host == "k8s.io" and module in self.modules else None

    def discovery(self, name: str) -> Json:
        """Return a discovery document, such as `apis` or `apis__apps__v1`."""
        found: Json = json.loads((self.kubernetes / f"api/discovery/{name}.json").read_text())
        return found

    def openapi_v3(self) -> list[Path]:
        """Return the OpenAPI v3 documents, one for each group and version."""
        return sorted((self.kubernetes / "api/openapi-spec/v3").glob("*.json"))


def find(place: str) -> Sources:
    """Return the sources in a checkout (the path of a folder), or of a version (`1.36.0`) in Go's module cache.

    Raises `SourceNotFound`.
    """
    version = _VERSION.fullmatch(place)
    if version is None:
        root = Path(place)
        staging = root / "staging/src/k8s.io"
        return _checked(Sources(root, {name: staging / name for name in MODULES}), place)
    names = _module_versions(version)
    cache = module_cache() / "k8s.io"
    folders = {name: cache / f"{name}@{module_version}" for name, module_version in names.items()}
    return _checked(Sources(folders.pop("kubernetes"), folders), place)


def download(version: str) -> None:
    """Download the modules of a version into Go's module cache. Needs the `go` command."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise SourceNotFound(f"cannot download {version}: only a version such as 1.36.0 can be downloaded")
    if shutil.which("go") is None:
        raise SourceNotFound("cannot download: the go command is not on PATH")
    modules = [f"k8s.io/{name}@{module_version}" for name, module_version in _module_versions(match).items()]
    with tempfile.TemporaryDirectory() as outside_any_module:
        subprocess.run(["go", "mod", "download", *modules], cwd=outside_any_module, check=True)


def module_cache() -> Path:
    """Return the folder in which Go keeps downloaded modules."""
    if "GOMODCACHE" in os.environ:
        return Path(os.environ["GOMODCACHE"])
    if shutil.which("go") is not None:
        return Path(subprocess.check_output(["go", "env", "GOMODCACHE"], text=True).strip())
    return Path.home() / "go/pkg/mod"


def _module_versions(version: re.Match[str]) -> dict[str, str]:
    minor, patch = version.groups()
    return {"kubernetes": f"v1.{minor}.{patch}"} | dict.fromkeys(MODULES, f"v0.{minor}.{patch}")


def _checked(sources: Sources, place: str) -> Sources:
    for folder in (sources.kubernetes / "api/openapi-spec", *sources.modules.values()):
        if not folder.is_dir():
            raise SourceNotFound(
                f"no sources of Kubernetes {place}: {folder} does not exist; "
                "give the path of a checkout of kubernetes/kubernetes, or a version and DOWNLOAD=1"
            )
    return sources
