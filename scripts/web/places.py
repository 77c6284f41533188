"""Paths of the page: its sources, and what the build writes."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TARGET: Final = "src/sampan/server/dashboard/static"
"""Folder of the built page, from the root of the repository. Git ignores it, the wheel contains it."""
META: Final = "meta.json"
SHELL: Final = "index.html"
NOTICE: Final = "NOTICE-web.txt"
ICON: Final = "scripts/site/theme/sampan.svg"
"""The sign of the project, from the root of the repository."""
ENTRIES: Final = {"style": "styles/main.css", "early": "early.js", "main": "main.js"}
"""Placeholders of `web/index.html`, and the sources that they stand for."""
WORKER: Final = "relations/layout_worker.js"
"""Source of the worker that computes positions of a graph."""
ALIASES: Final = {
    "@xterm/xterm": "@xterm/xterm/src/browser/public/Terminal.ts",
    "@xterm/xterm/css/xterm.css": "@xterm/xterm/css/xterm.css",
    "browser": "@xterm/xterm/src/browser",
    "common": "@xterm/xterm/src/common",
    "common/Types": "@xterm/xterm/src/common/Types.d.ts",
    "common/parser/Types": "@xterm/xterm/src/common/parser/Types.d.ts",
}
"""Modules that the build reads from `web/node_modules`. xterm.js is compiled from its sources, which names its modules
in this way: the compiled file that it ships is one sixth larger.
"""
