"""`launch_chromium`: Debian's Chromium for tests of pages, in the build without windows, which needs half the time."""

from typing import Final

import playwright.sync_api as playwright

from tests.machines.packages import require_program

_PROGRAM: Final = "chromium-headless-shell"
_ARGUMENTS: Final = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def require_chromium() -> None:
    """Skip the test if the browser is not there and cannot be installed."""
    require_program(_PROGRAM)


def launch_chromium(started: playwright.Playwright) -> playwright.Browser:
    """Start the browser. It reaches loopback alone."""
    return started.chromium.launch(executable_path=f"/usr/bin/{_PROGRAM}", args=_ARGUMENTS)
