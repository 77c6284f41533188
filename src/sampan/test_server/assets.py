"""`write_assets`: a directory for KUBEBUILDER_ASSETS with kube-apiserver, etcd and kubectl."""

import hashlib
import os
import shlex
import sys
from pathlib import Path
from typing import Final

from sampan.test_server.place import place

NAMES: Final = ("kube-apiserver", "etcd", "kubectl")
_PROGRAMS: Final = Path(__file__).parent / "programs"
_ISOLATED: Final = ("-I", "-S")


def assets_directory() -> Path:
    """Return the directory of this Python environment, in the cache of the user."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(f"{sys.executable}\0{_PROGRAMS}".encode()).hexdigest()[:12]
    return cache / "sampan" / "test-assets" / name


def write_assets(directory: Path) -> Path:
    """Write the programs, unless they exist. Return the absolute path. Raises `OSError`."""
    directory = directory.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    server_at = str(place())
    commands: dict[str, tuple[object, ...]] = {
        "kube-apiserver": (*_python("kube_apiserver.py"), server_at, sys.executable),
        "etcd": (*_python("etcd.py"), directory, server_at, sys.executable),
        "kubectl": ("/bin/sh", _PROGRAMS / "kubectl.sh", directory, sys.executable),
    }
    for name, command in commands.items():
        line = " ".join(shlex.quote(str(word)) for word in command)
        _write(directory / name, f'#!/bin/sh\nexec {line} "$@"\n')
    return directory


def environment_of_assets(directory: Path) -> dict[str, str]:
    """Return the variables with which envtest finds the programs."""
    return {
        "KUBEBUILDER_ASSETS": str(directory),
        **{f"TEST_ASSET_{name.upper().replace('-', '_')}": str(directory / name) for name in NAMES},
    }


def _python(program: str) -> tuple[object, ...]:
    return sys.executable, *_ISOLATED, _PROGRAMS / program


def _write(path: Path, content: str) -> None:
    """Replace a program atomically: another process may be running it."""
    try:
        if path.read_text() == content and os.access(path, os.X_OK):
            return
    except (FileNotFoundError, ValueError):
        pass
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(content)
    draft.chmod(0o755)
    draft.replace(path)
