"""Golden pictures: small copies of pages, which a page of today must resemble.

    python -m tests.dashboard.golden        replaces all of them; look at each one before the commit

A picture is a quarter of the window in each direction, so that it is small and that the edges of letters do not matter.
What changes with time (ages, generated names) is hidden. Two pictures are compared in the browser, block by block.
"""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, expect
from scripts.web.build import build
from scripts.web.places import ROOT

from tests.dashboard.browser import Browser, browser
from tests.dashboard.samples import config_map, crd
from tests.dashboard.server import DashboardServer, dashboard_server

FOLDER: Final = Path(__file__).parent / "golden"
PAGES: Final[Mapping[str, tuple[str, str, int, str]]] = {
    "overview-light": ("", "light", 1280, "text=Nothing needs attention"),
    "overview-dark": ("", "dark", 1280, "text=Nothing needs attention"),
    "list-light": ("list/core/v1/configmaps?ns=harbour", "light", 1280, "role=row[name=/quay/]"),
    "list-dark": ("list/core/v1/configmaps?ns=harbour", "dark", 1280, "role=row[name=/quay/]"),
    "list-phone": ("list/core/v1/configmaps?ns=harbour", "light", 390, "role=row[name=/quay/]"),
    "filter-light": ("list/core/v1/configmaps?ns=harbour&q=quay age<x", "light", 1280, "text=Not an age"),
    "empty-dark": ("list/batch/v1/cronjobs", "dark", 1280, "text=No CronJobs"),
    "object-light": ("object/core/v1/configmaps/harbour/quay", "light", 1280, "text=Metadata"),
    "object-dark": ("object/core/v1/configmaps/harbour/quay", "dark", 1280, "text=Metadata"),
    "missing-light": ("nowhere", "light", 1280, "text=Nothing is at this address"),
}
"""Address, theme, width of the window, and what shows that the page is complete."""
HEIGHT: Final = 800
SCALE: Final = 4
HIDDEN: Final = ("time", ".tile-count", ".home-list", ".facts code", "kbd", ".count")
SHOTS_MAX: Final = 30
INTERVAL_MS: Final = 300
BLOCK_DIFFERENCE_MAX: Final = 12
"""Mean difference of the colours of a block, of 255. A moved letter makes less; another colour makes more."""
BLOCKS_MAX: Final = 0.01
"""Share of the blocks that may differ by more."""

_SMALL: Final = """async ([shot, scale]) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${shot}`)).blob());
  const canvas = new OffscreenCanvas(image.width / scale, image.height / scale);
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.9 })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""
_DIFFERENT: Final = """async ([before, after, limit]) => {
  const pixels = async (text) => {
    const image = await createImageBitmap(await (await fetch(`data:image/webp;base64,${text}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = [await pixels(before), await pixels(after)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  const size = 8, wide = Math.floor(a.width / size), high = Math.floor(a.height / size);
  let different = 0;
  for (let row = 0; row < high; row++) for (let column = 0; column < wide; column++) {
    let sum = 0;
    for (let y = row * size; y < (row + 1) * size; y++) for (let x = column * size; x < (column + 1) * size; x++) {
      const at = (y * a.width + x) * 4;
      for (let i = 0; i < 3; i++) sum += Math.abs(a.data[at + i] - b.data[at + i]);
    }
    if (sum / (size * size * 3) > limit) different++;
  }
  return different / (wide * high);
}"""


def create_harbour(server: DashboardServer) -> None:
    """Create a namespace with three ConfigMaps."""
    server.create("/api/v1/namespaces", {"metadata": {"name": "harbour"}})
    objects = [config_map(name, annotations={"note": "of the harbour"}) for name in ("crane", "mole", "quay")]
    server.create("/api/v1/namespaces/harbour/configmaps", *objects)
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd())


def picture(chromium: Browser, blank: Page, name: str, change: str = "") -> str:
    """Return a picture of today in base64. `change` is run in the page before. `blank` is a page without a policy."""
    address, theme, width, shown = PAGES[name]
    with chromium.page(address, theme=theme, width=width, height=HEIGHT) as page:
        expect(page.locator(shown).first).to_be_visible(timeout=60_000)
        page.evaluate("document.fonts.ready")
        if change:
            page.evaluate(change)
        shot = _at_rest(page)
    small: str = blank.evaluate(_SMALL, [base64.b64encode(shot).decode(), SCALE])
    return small


def _at_rest(page: Page) -> bytes:
    """Return a screenshot of a page that no longer changes: parts of it load one after the other."""
    mask = [page.locator(each) for each in HIDDEN]
    before = b""
    for _ in range(SHOTS_MAX):
        shot = page.screenshot(mask=mask, mask_color="#808080", animations="disabled")
        if shot == before:
            break
        before = shot
        page.wait_for_timeout(INTERVAL_MS)
    return shot


def difference(blank: Page, name: str, present: str) -> float:
    """Return the share of blocks that differ from the golden picture."""
    golden = base64.b64encode((FOLDER / f"{name}.webp").read_bytes()).decode()
    share: Any = blank.evaluate(_DIFFERENT, [golden, present, BLOCK_DIFFERENCE_MAX])
    return float(share)


def main() -> None:
    """Replace all pictures."""
    build(ROOT)
    FOLDER.mkdir(exist_ok=True)
    with dashboard_server() as server, browser(server.address) as chromium, chromium.context() as context:
        create_harbour(server)
        blank = context.new_page()
        for name in PAGES:
            file = FOLDER / f"{name}.webp"
            file.write_bytes(base64.b64decode(picture(chromium, blank, name)))
            print(f"{file.name}: {file.stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    main()
