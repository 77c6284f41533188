"""The krew manifest: its fields as krew documents and checks them, and the archive that it names.

Source: krew docs/developer-guide/plugin-manifest, internal/index/validation/validate.go (v0.4).
"""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import sampan

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging" / "krew"
MANIFEST: dict[str, Any] = yaml.safe_load((FOLDER / "sampan.yaml").read_text())
SPEC: dict[str, Any] = MANIFEST["spec"]
PLATFORMS: list[dict[str, Any]] = SPEC["platforms"]
SHORT_DESCRIPTION_LENGTH_MAX = 50
"""Rule of the naming guide."""


@pytest.fixture(scope="module")
def archive() -> bytes:
    """Build the archive in its own process."""
    code = "import sys, runpy; sys.stdout.buffer.write(runpy.run_path(sys.argv[1])['archive']())"
    done = subprocess.run([sys.executable, "-c", code, str(FOLDER / "archive.py")], capture_output=True, check=True)
    return done.stdout


def test_plugin_has_the_name_of_its_file() -> None:
    assert MANIFEST.keys() == {"apiVersion", "kind", "metadata", "spec"}
    assert (MANIFEST["apiVersion"], MANIFEST["kind"]) == ("krew.googlecontainertools.github.com/v1alpha2", "Plugin")
    assert MANIFEST["metadata"] == {"name": "sampan"}
    assert re.fullmatch(r"[\w-]+", MANIFEST["metadata"]["name"])


def test_the_spec_has_the_documented_fields() -> None:
    assert SPEC.keys() <= {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}
    assert SPEC["version"] == f"v{sampan.__version__}"
    assert 0 < len(SPEC["shortDescription"]) <= SHORT_DESCRIPTION_LENGTH_MAX
    assert all(text == text.strip("\n") + "\n" for text in (SPEC["description"], SPEC["caveats"]))


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: str(platform["uri"]).rpartition("/")[2])
def test_each_platform_has_the_documented_fields(platform: dict[str, Any]) -> None:
    assert platform.keys() == {"selector", "uri", "sha256", "files", "bin"}
    assert re.fullmatch(r"https://.+\.(zip|tar\.gz)", platform["uri"])
    assert SPEC["version"] in platform["uri"]
    assert re.fullmatch(r"[0-9a-f]{64}", platform["sha256"])
    assert platform["selector"].keys() <= {"matchLabels", "matchExpressions"}
    for expression in platform["selector"]["matchExpressions"]:
        assert expression.keys() == {"key", "operator", "values"}
        assert expression["key"] in ("os", "arch")
        assert set(expression["values"]) <= {"linux", "darwin", "windows", "amd64", "arm64", "arm", "386"}
    assert all(operation.keys() == {"from", "to"} for operation in platform["files"])
    assert platform["bin"] in [operation["from"] for operation in platform["files"]]
    paths = [platform["bin"], *(path for operation in platform["files"] for path in operation.values())]
    assert not [path for path in paths if ".." in path or path.startswith("/")]


def test_archive_has_the_checksum_of_the_manifest(archive: bytes) -> None:
    assert {platform["sha256"] for platform in PLATFORMS} == {hashlib.sha256(archive).hexdigest()}


def test_the_archive_holds_the_files_and_a_licence(archive: bytes) -> None:
    names = zipfile.ZipFile(io.BytesIO(archive)).namelist()
    assert {operation["from"] for platform in PLATFORMS for operation in platform["files"]} == set(names)
    assert "LICENSE" in names


def test_the_package_installs_the_programs() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {
        "sampan": "sampan.cli.entry:sampan",
        "kubectl-sampan": "sampan.cli.entry:kubectl_sampan",
        "kubectl_complete-sampan": "sampan.cli.entry:kubectl_complete_sampan",
    }


def _launcher(tmp_path: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the launcher as kubectl does, without the program `sampan` on PATH."""
    command = tmp_path / "kubectl-sampan"
    shutil.copy(FOLDER / "kubectl-sampan", command)
    output = {"PATH": f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin", **environment}
    return subprocess.run([command, "--help"], env=output, capture_output=True, text=True, check=False, timeout=30)


def test_the_launcher_finds_the_package(tmp_path: Path) -> None:
    done = _launcher(tmp_path, SAMPAN_PYTHON=sys.executable)
    assert done.stdout.startswith("Usage: kubectl sampan "), done.stderr


def test_launcher_reports_a_missing_package(tmp_path: Path) -> None:
    empty = tmp_path / "python"
    empty.write_text("#!/bin/sh\nexit 1\n")
    empty.chmod(0o755)
    done = _launcher(tmp_path, SAMPAN_PYTHON=str(empty))
    assert done.returncode == 1
    assert done.stderr == f"error: the Python package sampan is not installed for {empty}: pip install sampan\n"


@pytest.mark.e2e
def test_kubectl_runs_it(tmp_path: Path) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not on PATH")
    shutil.copy(FOLDER / "kubectl-sampan", tmp_path / "kubectl-sampan")
    environment = {"PATH": f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin", "SAMPAN_PYTHON": sys.executable}
    done = subprocess.run(
        [kubectl, "sampan", "tree"], env=environment, capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 1
    assert "error:" in done.stderr
