"""Pictures of the dashboard for README and documents: `make screenshots` replaces them."""

import base64
from collections.abc import Mapping
from typing import Any, Final

from playwright.sync_api import Page, expect
from scripts.web.build import build
from scripts.web.places import ROOT

from tests.dashboard.browser import Browser, browser
from tests.dashboard.editing import replace_in_line
from tests.dashboard.samples import deployment
from tests.dashboard.server import DashboardServer, dashboard_server

FOLDER: Final = ROOT / "docs" / "pictures" / "dashboard"
PICTURES: Final[Mapping[str, tuple[str, str, str]]] = {
    "list-light": ("list/core/v1/pods?ns=shop", "light", "CrashLoopBackOff"),
    "list-dark": ("list/core/v1/pods?ns=shop", "dark", "CrashLoopBackOff"),
    "problem-light": ("object/apps/v1/deployments/shop/checkout", "light", "problems"),
    "edit-light": ("edit/apps/v1/deployments/shop/search", "light", "image: registry.example/search:1.4"),
    "events-dark": ("object/apps/v1/deployments/shop/checkout?tab=events", "dark", "Scheduled"),
}
"""Address, theme, and a text that shows that the page is complete."""
SIZE_MAX: Final = 150_000
_QUALITY: Final = 84
_CRASHES: Final = {"sampan.dev/fail-after": "1s", "sampan.dev/termination-message": "no database at db.shop:5432"}
_LOOPS: Final = "chain,gc"


def create_shop(server: DashboardServer) -> None:
    """Create a namespace with five Deployments: one crashes, another has an image that cannot be pulled."""
    server.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    annotations: dict[str, dict[str, str]] = {"checkout": _CRASHES, "search": {"sampan.dev/image-pull-fails": "always"}}
    for name, replicas in (("cart", 3), ("catalogue", 4), ("checkout", 2), ("search", 1), ("web", 5)):
        made: dict[str, Any] = deployment(name, f"registry.example/{name}:1.4", replicas)
        made["spec"]["template"]["metadata"]["annotations"] = annotations.get(name, {})
        server.create("/apis/apps/v1/namespaces/shop/deployments", made)


def webp_of(page: Page) -> bytes:
    """Return the window as WebP."""
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": _QUALITY})
    return base64.b64decode(shot["data"])


def take(chromium: Browser, name: str) -> bytes:
    """Return one of the pictures."""
    address, theme, shown = PICTURES[name]
    with chromium.page(address, width=1280, height=800, theme=theme) as page:
        expect(page.get_by_text(shown).first).to_be_visible(timeout=60_000)
        expect(page.locator("[role=status]").first).to_be_attached()
        if address.startswith("edit/"):
            replace_in_line(page, "replicas: 1", "replicas: -1\n  replica: 3")
            expect(page.get_by_text("2 errors")).to_be_visible(timeout=60_000)
        return webp_of(page)


def main() -> None:
    """Replace all pictures."""
    build(ROOT)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with dashboard_server(_LOOPS, 3) as server, browser(server.address) as chromium:
        create_shop(server)
        for name in PICTURES:
            file = FOLDER / f"{name}.webp"
            file.write_bytes(take(chromium, name))
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
