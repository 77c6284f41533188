"""Image with this computer's Python and its standard library, for servers in Pods."""

import sys
import sysconfig
import tarfile
from pathlib import Path
from typing import Final

from tests.e2e.cri import image
from tests.journeys.libraries import libraries
from tests.machines.oci import OciArchive

NAME: Final = "registry.test/python:1"
_LEFT_OUT: Final = frozenset(
    {"__pycache__", "dist-packages", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "tkinter"}
)


def build(archive: Path) -> None:
    """Write an OCI archive with the image. `python3` is on its PATH."""
    program = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]  # not that of the environment
    busybox, python = archive.with_suffix(".busybox"), archive.with_suffix(".python")
    image.write_layer(busybox)
    standard = Path(sysconfig.get_path("stdlib"))
    dynamic = [each for each in (standard / "lib-dynload").glob("*.so") if "test" not in each.name]
    shared = {each for one in (program, *dynamic) for each in libraries(one)}
    with tarfile.open(python, "w") as tar:
        for path in (program, *sorted(shared)):
            tar.add(path.resolve(), str(path).lstrip("/"))
        tar.add(standard, str(standard).lstrip("/"), filter=_needed)
        link = tarfile.TarInfo("bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, str(program)
        tar.addfile(link)
    with OciArchive(archive) as images:
        layers = [images.layer(busybox), images.layer(python)]
        config = {"Cmd": ["/bin/sleep", "1000000"], "Env": ["PATH=/bin", f"PYTHONHOME={sys.base_prefix}"]}
        images.image(NAME, layers, config)
    busybox.unlink()
    python.unlink()


def _needed(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(entry.name).name
    return None if name in _LEFT_OUT or name.startswith("config-") or name.endswith(".a") else entry
