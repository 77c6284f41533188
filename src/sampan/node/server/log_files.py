"""/logs/: files of the log directory.

Concurrency: files are read in threads.
Source: kubelet pkg/kubelet/kubelet.go `ServeLogs` (1.36).
"""

import asyncio
import html
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sampan.operator.http import AnyResponse, Response, StreamedResponse

_READ_BYTES: Final = 1 << 16


async def log_file_response(directory: Path | None, name: str) -> AnyResponse:
    """Return a file, or the names in a directory.

    `name` is a relative path; `..` and links to paths outside of the directory are refused.
    """
    if directory is None:
        return Response(403, b"logs endpoint is disabled.\n")
    return await asyncio.to_thread(_response, directory, name)


def _response(directory: Path, name: str) -> AnyResponse:
    root = directory.resolve()
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            return _not_found()
        if path.is_dir():
            return Response(200, _listing(path), "text/html; charset=utf-8")
        if not path.is_file():
            return _not_found()
    except (OSError, ValueError):
        return _not_found()
    return StreamedResponse(200, _parts(path))


def _not_found() -> Response:
    return Response(404, b"404 page not found\n")


def _listing(path: Path) -> bytes:
    names = sorted(f"{each.name}/" if each.is_dir() else each.name for each in path.iterdir())
    lines = "".join(f'<a href="{quote(name)}">{html.escape(name)}</a>\n' for name in names)
    return f"<!doctype html>\n<pre>\n{lines}</pre>\n".encode()


async def _parts(path: Path) -> AsyncGenerator[bytes, None]:
    file = await asyncio.to_thread(path.open, "rb")
    try:
        while data := await asyncio.to_thread(file.read, _READ_BYTES):
            yield data
    finally:
        file.close()
