"""Programs of the suite, built from Kubernetes' Go module at its published version.

About 20 minutes of processor time, once. `e2e.test` is the suite, `agnhost` runs in most of its Pods.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

VERSION: Final = "1.36.0"
_MODULE: Final = "k8s.io/kubernetes"
_PACKAGES: Final = {
    "e2e.test": f"{_MODULE}/test/e2e",
    "agnhost": f"{_MODULE}/test/images/agnhost",
    "nnp": f"{_MODULE}/test/images/nonewprivs",
    "kubectl": f"{_MODULE}/cmd/kubectl",
    "sample-apiserver": "k8s.io/sample-apiserver",
}
_LD_FLAGS: Final = f"-s -w -X k8s.io/component-base/version.gitVersion=v{VERSION}"
_PAUSE: Final = Path(__file__).parent / "pause" / "main.go"


def sources(go: str = "go") -> Path:
    """Return the directory of Kubernetes' module, downloaded if needed. Raises `subprocess.CalledProcessError`."""
    subprocess.run([go, "mod", "download", f"{_MODULE}@v{VERSION}"], check=True)
    found = subprocess.run([go, "env", "GOMODCACHE"], check=True, capture_output=True, text=True).stdout.strip()
    return Path(found) / f"{_MODULE}@v{VERSION}"


def build(directory: Path, report: Callable[[str], None]) -> None:
    """Build all programs that the directory does not have. Raises `subprocess.CalledProcessError`."""
    directory.mkdir(parents=True, exist_ok=True)
    missing = [name for name in (*_PACKAGES, "pause") if not (directory / name).exists()]
    if not missing:
        return
    module = directory / "module"
    module.mkdir(exist_ok=True)
    _write_module(module)
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"}
    for number, name in enumerate(missing, 1):
        report(f"building {name} ({number} of {len(missing)}; e2e.test and agnhost take minutes)")
        target = directory / f".{name}"
        if name == "e2e.test":
            command = ["go", "test", "-c", "-o", str(target), _PACKAGES[name]]
        else:
            command = [
                "go",
                "build",
                "-trimpath",
                f"-ldflags={_LD_FLAGS}",
                "-o",
                str(target),
                _PACKAGES.get(name, str(_PAUSE)),
            ]
        subprocess.run(command, cwd=module, env=environment, check=True, stdout=subprocess.DEVNULL)
        target.rename(directory / name)


def use(directory: Path, suite: Path) -> None:
    """Take the suite from a file that exists. Raises `OSError`."""
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy2(suite, directory / "e2e.test")


def _write_module(directory: Path) -> None:
    """Write a module in which Kubernetes' own modules have the published versions."""
    kubernetes = sources()
    staging = re.findall(r"^\s*(k8s\.io/\S+) => \./staging", (kubernetes / "go.mod").read_text(), re.MULTILINE)
    replaced = "".join(f"\t{name} => {name} v0.{VERSION.partition('.')[2]}\n" for name in staging)
    (directory / "go.mod").write_text(
        f"module conformance\n\ngo 1.26.0\n\nrequire {_MODULE} v{VERSION}\n\nreplace (\n{replaced})\n"
    )
    (directory / "go.sum").write_bytes((kubernetes / "go.sum").read_bytes())
