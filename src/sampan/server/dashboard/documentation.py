"""`Documentation`: the documentation site at /dashboard/docs/, for machines without the internet.

The distribution `sampan-docs` contains the site; a checkout has it after `make docs`. Only files that were found in the
site's folder are served, so no path leads out of it. Scripts of its pages can send no request.
"""

import asyncio
import importlib.util
import os
from pathlib import Path
from typing import Final

from sampan.core.errors import method_not_allowed
from sampan.server.dashboard.headers import COMMON, NO_STORE
from sampan.server.request import Headers, Request, Response
from sampan.server.status import not_found_page

PATH: Final = "/dashboard/docs/"
_INDEX: Final = "index.html"
_CHECKOUT: Final = Path(__file__).parents[4] / "build" / "site"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".inv": "application/octet-stream",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}
"""Content types by ending. All other files are texts."""
_TEXT: Final = "text/plain; charset=utf-8"
POLICY: Final = (
    b"Content-Security-Policy",
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
)
"""Policy of the pages: their scripts can load files, and send nothing."""
_REVALIDATED: Final = (b"Cache-Control", b"no-cache")
_ABSENT: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sampan</title>'
    "<p>The documentation is not installed: run <code>pip install sampan-docs</code>, or <code>make docs</code> in a "
    "checkout of Sampan, and reload this page.</p></html>"
)


def installed_site() -> Path:
    """Return the folder of the site: that of the distribution `sampan-docs`, or else that of a checkout."""
    found = importlib.util.find_spec("sampan_docs")
    places = found.submodule_search_locations if found is not None else None
    return Path(next(iter(places))) / "site" if places else _CHECKOUT


class Documentation:
    """Files of one site. They are listed at the first request, and again when the site was built again."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._built_ns: int | None = None
        self._files: dict[str, Path] = {}

    async def handle(self, request: Request) -> Response:
        """Return a file of the site; without a site, a page with the command that installs it."""
        if request.wire.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        return await asyncio.to_thread(self._response, request, request.wire.path.removeprefix(PATH))

    def _response(self, request: Request, name: str) -> Response:
        self._refresh()
        if not self._files:
            return Response(200, _ABSENT.encode(), _TYPES[".html"], headers=[*COMMON, POLICY, NO_STORE])
        file = self._files.get(f"{name}{_INDEX}" if not name or name.endswith("/") else name)
        if file is None:
            return not_found_page()
        try:
            found = file.stat()
            tag = f'"{found.st_mtime_ns:x}-{found.st_size:x}"'
            headers: Headers = [*COMMON, POLICY, _REVALIDATED, (b"ETag", tag.encode())]
            if tag in request.headers.get("if-none-match", ""):
                return Response(304, content_type="", headers=headers)
            return Response(200, file.read_bytes(), _TYPES.get(file.suffix, _TEXT), headers=headers)
        except FileNotFoundError:
            return not_found_page()

    def _refresh(self) -> None:
        """List the files if the site is new."""
        folder = self._folder or installed_site()
        try:
            built_ns = (folder / _INDEX).stat().st_mtime_ns
        except OSError:
            self._built_ns, self._files = None, {}
            return
        if built_ns == self._built_ns:
            return
        self._files = {
            (Path(place) / name).relative_to(folder).as_posix(): Path(place) / name
            for place, _, names in os.walk(folder)
            for name in names
        }
        self._built_ns = built_ns
