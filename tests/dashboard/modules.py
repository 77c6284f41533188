"""Modules of the page in an empty page of the browser, for tests of pure functions."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page
from scripts.web.packages import esbuild, install
from scripts.web.places import ROOT

from tests.dashboard.browser import Browser


@contextmanager
def modules_page(chromium: Browser, folder: Path, modules: Mapping[str, str]) -> Iterator[Page]:
    """Return an empty page with modules in `page_modules`, by name."""
    web = ROOT / "web"
    install(web)
    entry = folder / "entry.js"
    lines = [f"export * as {name} from {json.dumps(str(web / 'src' / path))};" for name, path in modules.items()]
    entry.write_text("\n".join(lines))
    bundle = entry.with_name("bundle.js")
    options = ["--bundle", "--format=iife", "--global-name=page_modules", f"--outfile={bundle}", "--log-level=error"]
    subprocess.run([esbuild(web), str(entry), *options], cwd=web, check=True)
    with chromium.context() as context:
        opened = context.new_page()
        opened.goto("data:text/html,<title>modules</title>")
        opened.add_script_tag(content=bundle.read_text())
        yield opened


def call(page: Page, function: str, *arguments: Any) -> Any:
    """Call a function: `values.numberOf`."""
    return page.evaluate(f"(args) => page_modules.{function}(...args)", list(arguments))
