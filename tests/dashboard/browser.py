"""`Browser`: Debian's Chromium with the page. It refuses other hosts, and records violations of the CSP and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import playwright.sync_api as playwright

from tests.chromium import launch_chromium, require_chromium

VIOLATIONS: Final = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
});
"""


@dataclass
class Browser:
    """A running browser, and what went wrong in its pages."""

    chromium: playwright.Browser
    address: str
    faults: list[str] = field(default_factory=list)
    """Requests to other hosts, violations of the CSP, and uncaught errors."""
    allowed: list[str] = field(default_factory=list)
    """Addresses of other servers that a test lets its pages visit."""

    @contextmanager
    def context(self, *, width: int = 1440, height: int = 900, theme: str = "light", **options: Any) -> Iterator[Any]:
        """Open a new context: without cookies and storage of others. `theme` is that of the system."""
        context = self.chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
            ignore_https_errors=True,
            locale=options.pop("locale", "en-GB"),
            **options,
        )
        context.set_default_timeout(10_000)
        context.add_init_script(VIOLATIONS)
        context.route("**/*", self._route)
        try:
            yield context
        finally:
            context.close()

    @contextmanager
    def page(self, path: str = "", **options: Any) -> Iterator[playwright.Page]:
        """Open a page below `/dashboard/` in a new context."""
        with self.context(**options) as context:
            page = context.new_page()
            page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
            page.on("console", self._console)
            page.goto(f"{self.address}/dashboard/{path}")
            yield page

    def _route(self, route: playwright.Route) -> None:
        if route.request.url.startswith((self.address, "data:", *self.allowed)):
            route.continue_()
        else:
            self.faults.append(f"foreign host: {route.request.url}")
            route.abort()

    def _console(self, message: playwright.ConsoleMessage) -> None:
        if "CSP" in message.text or "Content Security Policy" in message.text:
            self.faults.append(message.text)


@contextmanager
def browser(address: str) -> Iterator[Browser]:
    """Start the browser. Skip the test if it is not there and cannot be installed."""
    require_chromium()
    with playwright.sync_playwright() as started:
        chromium = launch_chromium(started)
        try:
            yield Browser(chromium, address)
        finally:
            chromium.close()
