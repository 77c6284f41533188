"""A small project with its wheels and its base, so that no test needs a package index or a registry."""

import io
import tarfile
import zipfile
from pathlib import Path

from sampan.oci.layout import machine_architecture

MACHINE = f"linux/{machine_architecture()}"
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def write_wheel(folder: Path, name: str, version: str = "1.0", tag: str = "py3-none-any", requires: str = "") -> Path:
    """Write a wheel with one module."""
    info = f"{name}-{version}.dist-info"
    requirement = f"Requires-Dist: {requires}\n" if requires else ""
    files = {
        f"{name}/__init__.py": f"TAG = {tag!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requirement}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/RECORD": f"{name}/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n",
    }
    folder.mkdir(exist_ok=True)
    place = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(place, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return place


def write_root_file_system(place: Path, python: str = "3.11") -> None:
    """Write a tar file that looks like a system with Python."""
    with tarfile.open(place, "w") as archive:
        for name in ("etc", "usr", "usr/bin"):
            folder = tarfile.TarInfo(f"./{name}")
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
        release = tarfile.TarInfo("./etc/os-release")
        release.size = 3
        archive.addfile(release, io.BytesIO(b"ID="))
        link = tarfile.TarInfo("./usr/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, f"python{python}"
        archive.addfile(link)


def write_project(root: Path, *, image: str | None = None, dependencies: str = '"sampan", "crew"') -> Path:
    """Write a project that depends on `sampan` and on `crew`, which has a wheel for each platform."""
    (root / "src" / "boats").mkdir(parents=True)
    (root / "src" / "boats" / "__main__.py").write_text('print("boats")\n')
    (root / "src" / "boats" / "data.json").write_text("{}\n")
    (root / "src" / "boats" / "__pycache__").mkdir()
    (root / "src" / "boats" / "__pycache__" / "x.pyc").write_bytes(b"x")
    wheels = root / "wheels"
    write_wheel(wheels, "sampan", requires="large")
    write_wheel(wheels, "sampan_operator")
    for architecture in _MACHINES.values():
        write_wheel(wheels, "crew", tag=f"cp311-cp311-manylinux_2_17_{architecture}")
    write_root_file_system(root / "base.tar")
    table = f'base = "base.tar"\nplatforms = ["{MACHINE}"]\n' if image is None else image
    (root / "pyproject.toml").write_text(
        f'[project]\nname = "boats"\nversion = "1.2.3"\ndescription = "Boats"\ndependencies = [{dependencies}]\n\n'
        f'[tool.sampan]\npackage = "boats"\ngroup = "boats.example.com"\n\n'
        f'[tool.uv]\nfind-links = ["wheels"]\nno-index = true\n\n'
        f"[tool.sampan.image]\n{table}"
    )
    return root
