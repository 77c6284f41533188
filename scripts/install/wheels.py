"""Checks that every dependency has a wheel for each platform and Python version.

    python -m scripts.install.wheels                    # all; each resolution takes some seconds
    python -m scripts.install.wheels musl-aarch64 3.14

pip resolves the default dependencies and those of all extras without installing them. It uses the index that it is
configured with, and takes only wheels.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Final

from scripts.install.projects import OPERATOR, SERVER, extras, requirements
from scripts.release.musl import WITHOUT

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS: Final = {
    "linux-x86_64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "linux-aarch64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "musl-x86_64": ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    "musl-aarch64": ("musllinux_1_2_aarch64", "musllinux_1_1_aarch64"),
    "macos-x86_64": ("macosx_13_0_x86_64",),
    "macos-arm64": ("macosx_14_0_arm64",),
}
"""Tags of the wheels that each platform accepts: Debian 12 and its contemporaries, Alpine 3.18, macOS 13 and 14."""

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def run_pip(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run pip."""
    return subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False)


def required(platform: str) -> list[str]:
    """Return the requirements of both distributions on a platform, with all extras."""
    optional = [text for needed in extras(SERVER).values() for text in needed]
    desired = sorted({*requirements(SERVER), *requirements(OPERATOR), *optional})
    return [text for text in desired if not (platform.startswith("musl") and text.startswith(WITHOUT))]


def resolve(platform: str, python: str, desired: Sequence[str], run: Run = run_pip) -> list[str]:
    """Return the names of the wheels that pip would install. Raises `LookupError` if one is missing."""
    tags = [argument for tag in PLATFORMS[platform] for argument in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as nowhere:
        done = run(
            [
                *("install", "--dry-run", "--ignore-installed", "--quiet", "--target", nowhere, "--report", "-"),
                *("--only-binary=:all:", "--implementation", "cp", "--python-version", python),
                *tags,
                *desired,
            ]
        )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise LookupError(f"{platform}, Python {python}: {lines[-1] if lines else done.stderr}")
    return [item["download_info"]["url"].rpartition("/")[2] for item in json.loads(done.stdout)["install"]]


def main(arguments: Sequence[str]) -> int:
    """Check the platforms and versions in `arguments`, or all. Return the exit code."""
    platforms = [name for name in PLATFORMS if name in arguments] or list(PLATFORMS)
    pythons = [version for version in PYTHONS if version in arguments] or list(PYTHONS)
    missing = 0
    for platform in platforms:
        for python in pythons:
            try:
                found = resolve(platform, python, required(platform))
                print(f"{platform:14} {python}  {len(found)} wheels", flush=True)
            except LookupError as error:
                missing += 1
                print(f"missing: {error}", flush=True)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
