"""`PageFiles`: the built page in memory: the shell, and files whose names contain their digest.

`make web` writes them next to this module. They are read at the first request, and again after the next build.
"""

import json
import logging
import secrets
from pathlib import Path
from typing import Any, Final

from sampan.core.errors import method_not_allowed
from sampan.server.dashboard.headers import COMMON, FILE_POLICY, NO_STORE, page_policy
from sampan.server.request import Headers, Request, Response
from sampan.server.status import not_found_page

_log = logging.getLogger("sampan.dashboard")

BUILT: Final = Path(__file__).parent / "static"
_INDEX, _META, _NONCE = "index.html", "meta.json", "{{nonce}}"
_IMMUTABLE: Final = (b"Cache-Control", b"public, max-age=31536000, immutable")
_ENCODINGS: Final = (("br", ".br"), ("gzip", ".gz"))
"""Content encodings, the preferred one first, and the endings of their files."""
_HTML: Final = "text/html; charset=utf-8"
_NOT_BUILT: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sampan</title>'
    "<p>The dashboard is not built: run <code>make web</code> in a checkout of Sampan, and reload this page.</p></html>"
)


class PageFiles:
    """Files of one build."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._folder = folder
        self._stamp: int | None = None
        self._index = _NOT_BUILT
        self._types: dict[str, tuple[str, str]] = {}
        self._contents: dict[str, bytes] = {}

    def shell(self, request: Request) -> Response:
        """Return the page for any of its paths. Its nonce is new in each response."""
        _check_method(request)
        self._refresh()
        nonce = secrets.token_urlsafe(16)
        body = self._index.replace(_NONCE, nonce).encode()
        return Response(200, body, _HTML, headers=[*COMMON, NO_STORE, page_policy(nonce)])

    def file(self, request: Request, name: str) -> Response:
        """Return a file in an encoding that the client accepts."""
        _check_method(request)
        if not self._types:
            self._refresh()
        known = self._types.get(name)
        if known is None:
            return not_found_page()
        content_type, etag = known
        encoding, content = self._encoded(name, request.headers.get("accept-encoding", ""))
        tag = f'"{etag}{f"-{encoding}" if encoding else ""}"'
        headers: Headers = [*COMMON, FILE_POLICY, _IMMUTABLE, (b"Vary", b"Accept-Encoding"), (b"ETag", tag.encode())]
        if tag in request.headers.get("if-none-match", ""):
            return Response(304, content_type="", headers=headers)
        if encoding:
            headers.append((b"Content-Encoding", encoding.encode()))
        return Response(200, content, content_type, headers=headers)

    def _encoded(self, name: str, accepted: str) -> tuple[str, bytes]:
        names = {part.partition(";")[0].strip() for part in accepted.lower().split(",") if ";q=0" not in part}
        for encoding, ending in _ENCODINGS:
            if encoding in names and name + ending in self._contents:
                return encoding, self._contents[name + ending]
        return "", self._contents[name]

    def _refresh(self) -> None:
        """Read the files if a build has changed them. Without a complete build, keep what is there."""
        try:
            stamp = (self._folder / _META).stat().st_mtime_ns
            if stamp == self._stamp:
                return
            described: dict[str, Any] = json.loads((self._folder / _META).read_bytes())["files"]
            self._contents = {
                file.name: file.read_bytes() for name in described for file in self._folder.glob(f"{name}*")
            }
            self._types = {
                name: (str(about["type"]), str(about["etag"]).strip('"'))
                for name, about in described.items()
                if name in self._contents
            }
            self._index = (self._folder / _INDEX).read_text()
            self._stamp = stamp
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("cannot read the build of the dashboard", extra={"error": str(error)})


def _check_method(request: Request) -> None:
    if request.wire.method not in ("GET", "HEAD"):
        raise method_not_allowed()
