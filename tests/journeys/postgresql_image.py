"""The image `registry.test/postgresql:15`: this computer's PostgreSQL of Debian's packages, and busybox."""

import subprocess
import tarfile
from pathlib import Path
from typing import Final

from tests.e2e.cri import image
from tests.journeys.libraries import libraries
from tests.machines import require_package
from tests.machines.oci import OciArchive

NAME: Final = "registry.test/postgresql:15"
USER: Final = 70
_INSTALLED: Final = Path("/usr/lib/postgresql")
_SHARED: Final = Path("/usr/share/postgresql")
_PASSWD: Final = f"postgres:x:{USER}:{USER}::/tmp:/bin/sh\n"
_PROGRAMS: Final = ("initdb", "pg_ctl", "pg_dump", "pg_isready", "postgres", "psql")


def build(archive: Path) -> None:
    """Write an OCI archive with the image. Skips the test if PostgreSQL is not installed."""
    require_package("postgresql", _versions)
    programs = _versions()[-1].parent
    busybox, layer = archive.with_suffix(".busybox"), archive.with_suffix(".postgresql")
    image.write_layer(busybox)
    with tarfile.open(layer, "w") as tar:
        for path in sorted(_files(programs)):
            tar.add(path.resolve(), str(path).lstrip("/"), recursive=False)
        _add_passwd(tar, archive.with_suffix(".passwd"))
    environment = [f"PATH={programs}:/bin", "PGUSER=postgres", "PGHOST=/tmp"]
    config = {"Cmd": ["postgres"], "Env": environment, "User": f"{USER}:{USER}"}
    with OciArchive(archive) as images:
        images.image(NAME, [images.layer(busybox), images.layer(layer)], config)
    busybox.unlink()
    layer.unlink()


def _versions() -> list[Path]:
    """Return the servers that are installed, the oldest version first."""
    return sorted(_INSTALLED.glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))


def _files(programs: Path) -> set[Path]:
    """Return the programs, their modules and data, and all shared libraries."""
    modules = [path for path in (programs.parent / "lib").glob("*.so") if _is_small(path)]
    binaries = [programs / name for name in _PROGRAMS]
    shared = {path for path in (_SHARED / programs.parent.name).rglob("*") if path.is_file()}
    needed = {library for path in (*binaries, *modules) for library in libraries(path)}
    return {*binaries, *modules, *shared, *needed}


def _is_small(path: Path) -> bool:
    """Return whether a module needs no interpreter or compiler, which would be most of the image."""
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    return not any(word in listed for word in ("libLLVM", "libperl", "libpython", "libtcl"))


def _add_passwd(tar: tarfile.TarFile, path: Path) -> None:
    # initdb looks up the name of its user.
    path.write_text(_PASSWD)
    tar.add(path, "etc/passwd")
    path.unlink()
