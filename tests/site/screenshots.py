"""Pictures of the site for README: `make screenshots` builds the site and replaces them."""

import base64
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page
from scripts.site.build import build
from scripts.site.cache import Cache
from scripts.site.places import CACHE, ROOT

from tests.site.browser import Chromium, chromium

FOLDER: Final = ROOT / "docs" / "pictures"
PICTURES: Final[Mapping[str, tuple[str, str]]] = {
    "site-front-light": ("index.html", "light"),
    "site-front-dark": ("index.html", "dark"),
    "site-reference": ("reference/sampan.operator.html", "light"),
}
"""Page and theme of each picture."""
SIZE_MAX: Final = 150_000
_QUALITY: Final = 82


def webp_of(page: Page) -> bytes:
    """Return the window as WebP."""
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": _QUALITY})
    return base64.b64decode(shot["data"])


def take(browser: Chromium, name: str) -> bytes:
    """Return one of the pictures."""
    path, theme = PICTURES[name]
    with browser.page(path, width=1280, height=800, theme=theme) as page:
        return webp_of(page)


def main() -> None:
    """Replace all pictures."""
    with TemporaryDirectory(prefix="site-") as folder:
        build(Path(folder), cache=Cache.load(CACHE))
        FOLDER.mkdir(exist_ok=True)
        with chromium(Path(folder)) as browser:
            for name in PICTURES:
                file = FOLDER / f"{name}.webp"
                file.write_bytes(take(browser, name))
                print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
