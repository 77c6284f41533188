"""The wheel `sampan-docs` serves the site on loopback, without other packages and without a network."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from scripts.install.projects import DOCS, ROOT
from scripts.site.build import build

PAGES = ("index.html", "running.html", "running.md", "zh-CN/index.html", "llms.txt", "assets/search-en.js")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the wheel, unpack it, run the package, and yield its address."""
    folder = tmp_path_factory.mktemp("docs")
    # A copy of the part of the repository that the wheel is built from: other tests may build the site, too.
    copied = folder / "repository"
    for path in ("src/sampan/__init__.py", "scripts/site/serve.py"):
        (copied / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copied / path)
    shutil.copytree(DOCS, copied / "packaging" / "docs")
    build(copied / "build" / "site")
    wheels = folder / "dist"
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)],
        cwd=copied / "packaging" / "docs",
        check=True,
        capture_output=True,
    )
    [wheel] = wheels.glob("sampan_docs-*-py3-none-any.whl")
    zipfile.ZipFile(wheel).extractall(folder / "installed")
    with subprocess.Popen(
        # Isolated, without packages: only what the wheel has.
        [sys.executable, "-S", "-m", "sampan_docs", "--port", "0"],
        cwd=folder / "installed",
        stdout=subprocess.PIPE,
        text=True,
    ) as served:
        assert served.stdout is not None
        found = re.fullmatch(r"serving (http://127\.0\.0\.1:\d+/) .*\n", served.stdout.readline())
        assert found
        yield found[1]
        served.terminate()


@pytest.mark.parametrize("page", PAGES)
def test_the_wheel_serves_a_page(address: str, page: str) -> None:
    with urlopen(address + page, timeout=10) as response:
        assert response.status == 200
        assert "Sampan" in response.read().decode()


def test_the_wheel_needs_no_other_distribution() -> None:
    assert "dependencies" not in (DOCS / "pyproject.toml").read_text()
