"""`chromium`: Debian's browser with the site, without a way to other hosts."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright
from scripts.site.serve import server

from tests.chromium import launch_chromium, require_chromium

_NAMES: Final = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""No name of a host leads anywhere."""


@dataclass
class Chromium:
    """A running browser, and the address of the site."""

    browser: Browser
    address: str
    refused: list[str] = field(default_factory=list)
    """Requests to other hosts. They got no answer."""

    @contextmanager
    def page(self, path: str, *, width: int = 1440, height: int = 900, theme: str = "light") -> Iterator[Page]:
        """Open a page in a new context. `theme` is that of the system."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
        )
        try:
            yield self._opened(context, path)
        finally:
            context.close()

    def _opened(self, context: BrowserContext, path: str) -> Page:
        def route(request: Route) -> None:
            if request.request.url.startswith(self.address):
                request.continue_()
            else:
                self.refused.append(request.request.url)
                request.abort()

        context.route("**/*", route)
        page = context.new_page()
        page.goto(self.address + path)
        return page


@contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """Serve a folder, and start the browser. Skip the test if it is not there and cannot be installed."""
    require_chromium()
    with server(folder, 0) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        try:
            with sync_playwright() as playwright:
                browser = launch_chromium(playwright)
                yield Chromium(browser, f"http://127.0.0.1:{served.server_port}/")
                browser.close()
        finally:
            served.shutdown()
            thread.join()
