"""The block of the front page, as its button copies it: it gives the result that is shown below it."""

import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from scripts.site.front import session
from scripts.site.places import ROOT

from tests.cli.server import running
from tests.site.browser import Chromium
from tests.user_environment import user_environment

RESULT_S_MAX: Final = 30
"""The promise of the front page."""
FRONTS: Final[Mapping[str, str]] = {"English": "index.html", "Chinese": "zh-CN/index.html"}


def shown() -> list[str]:
    """Return the output below the last command of the front page."""
    return session().rpartition("$ ")[2].splitlines()[1:]


@pytest.mark.parametrize("language", FRONTS)
def test_the_copied_block_gives_the_shown_result_in_thirty_seconds(
    browser: Chromium, tmp_path: Path, language: str
) -> None:
    if not shutil.which("kubectl"):
        pytest.skip("needs kubectl")
    with browser.page(FRONTS[language]) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.hover(".result .block")
        page.click(".result .copy")
        start, *commands = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert start == "make up"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    began = time.monotonic()
    # `make up` is this, once its environment is installed.
    with running(tmp_path / "data"):
        done = subprocess.run(
            ["bash", "-e", "-c", "\n".join(commands)],
            cwd=tmp_path,
            env=user_environment(),
            capture_output=True,
            text=True,
            timeout=RESULT_S_MAX - (time.monotonic() - began),
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()[-2:]] == [line.split() for line in shown()]
