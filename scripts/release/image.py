"""Image of the server: Debian's Python in one layer, Sampan with its dependencies in another.

The first layer is a minimal Debian of this machine's release and package sources, made by mmdebstrap. The second one
has the wheel and its dependencies in /opt/sampan. No container engine is needed.
"""

import datetime as dt
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import Platform
from sampan.oci.image import ImageOptions, add_image
from sampan.oci.layer import add_layer, archive_of, files_below
from sampan.oci.layout import write_archive
from sampan.oci.reference import Reference

_PACKAGES: Final = ("ca-certificates", "libpython3-stdlib", "python3-minimal")
_EXCLUDED: Final = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_USER: Final = 65532
_PYTHON: Final = re.compile(r"python3\.(\d+)")
_EXTRAS: Final = "etcd,kms,secretbox,tracing"


class ImageError(Exception):
    """The image cannot be built here. The text is one line with the remedy."""


def architecture() -> str:
    """Return this machine's architecture as images call it. Raises `ImageError`."""
    try:
        return _ARCHITECTURES[platform.machine()]
    except KeyError:
        raise ImageError(f"no image for {platform.machine()}: known are {', '.join(_ARCHITECTURES)}") from None


def build_image(wheel: Path, target: Path, *, name: str, created: dt.datetime, base: Path | None = None) -> str:
    """Write the image and return its digest. `base`: tar archive of a root file system, instead of a new one.

    Raises `ImageError`.
    """
    with tempfile.TemporaryDirectory() as folder:
        if base is None:
            base = Path(folder, "base.tar")
            make_base(base, created)
        packages = Path(folder, "sampan")
        _install(wheel, packages, python_of(base))
        store = BlobStore(Path(folder, "blobs"))
        files = files_below(packages, "opt/sampan")
        layers = [
            add_layer(store, base.read_bytes(), f"Debian with {', '.join(_PACKAGES)}"),
            add_layer(store, archive_of(files, empty={"data": _USER}), f"pip install {wheel.name}[{_EXTRAS}]"),
        ]
        options = ImageOptions(
            created.isoformat(),
            entrypoint=["/usr/bin/python3", "-m", "sampan"],
            command=["up", "--data", "/data", "--bind", "0.0.0.0"],
            user=f"{_USER}:{_USER}",
            working_directory="/data",
            environment={"PATH": "/usr/bin:/bin", "PYTHONPATH": "/opt/sampan", "PYTHONDONTWRITEBYTECODE": "1"},
            more={"ExposedPorts": {"6443/tcp": {}}, "Volumes": {"/data": {}}, "StopSignal": "SIGTERM"},
        )
        manifest = add_image(store, Platform(architecture()), None, layers, options)
        write_archive(store, manifest, Reference.parse(name), target)
    return manifest.digest


def python_of(base: Path) -> str:
    """Return the version of Python in a root file system: `3.11`. Raises `ImageError`."""
    with tarfile.open(base) as archive:
        for member in archive:
            if member.name.removeprefix("./") == "usr/bin/python3" and (found := _PYTHON.search(member.linkname)):
                return f"3.{found[1]}"
    raise ImageError(f"{base} has no link usr/bin/python3: use a root file system with Debian's Python")


def make_base(target: Path, created: dt.datetime) -> None:
    """Write a tar archive of a minimal Debian with Python. Raises `ImageError`."""
    if shutil.which("mmdebstrap") is None:
        raise ImageError("the image needs mmdebstrap: apt-get install mmdebstrap, or make release ARGS=--no-image")
    sources = [file for file in (*Path("/etc/apt").glob("sources.list"), *_source_files()) if file.stat().st_size]
    excluded = [f"--dpkgopt=path-exclude={pattern}" for pattern in _EXCLUDED]
    command = [
        *("mmdebstrap", "--quiet", "--variant=minbase", "--format=tar", f"--include={','.join(_PACKAGES)}"),
        *(*excluded, platform.freedesktop_os_release()["VERSION_CODENAME"], str(target), *map(str, sources)),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SOURCE_DATE_EPOCH": str(int(created.timestamp()))},
        check=False,
    )
    if done.returncode:
        raise ImageError(f"mmdebstrap failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}")


def _source_files() -> list[Path]:
    folder = Path("/etc/apt/sources.list.d")
    return sorted([*folder.glob("*.list"), *folder.glob("*.sources")])


def _install(wheel: Path, target: Path, python: str) -> None:
    """Install for another interpreter than this one. Compiled files carry no times, which the layer does not keep."""
    tags = [f"manylinux_2_{minor}_{platform.machine()}" for minor in (17, 28, 34)]
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(target)),
        *("--only-binary=:all:", "--implementation", "cp", "--python-version", python),
        *(argument for tag in (*tags, f"manylinux2014_{platform.machine()}") for argument in ("--platform", tag)),
        f"{wheel}[{_EXTRAS}]",
    ]
    subprocess.run(command, check=True)
    if python == f"3.{sys.version_info.minor}":
        options = ("-q", "--invalidation-mode", "unchecked-hash", "-s", str(target), "-p", "/opt/sampan")
        subprocess.run([sys.executable, "-m", "compileall", *options, target], check=True)
