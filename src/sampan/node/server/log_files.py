"""/logs/: files of the log directory.

Concurrency: files are read in threads.
Source: kubelet pkg/kubelet/kubelet.go `ServeLogs` (1.36).
"""

import asyncio
import html
import os
import stat
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote

from sampan.http.server import AnyResponse, Response, StreamedResponse
from sampan.node.beneath import open_beneath, open_directory, opened

_READ_BYTES: Final = 1 << 16


async def log_file_response(directory: Path | None, name: str) -> AnyResponse:
    """Return a file, or the names in a directory.

    `name` is a relative path; `..` and links to paths outside of the directory are refused.
    """
    if directory is None:
        return Response(403, b"logs endpoint is disabled.\n")
    return await asyncio.to_thread(_response, directory, name)


def _response(directory: Path, name: str) -> AnyResponse:
    try:
        with opened(open_directory(directory)) as root:
            fd = open_beneath(root, name.strip("/"), os.O_RDONLY | os.O_NONBLOCK)
        mode = os.fstat(fd).st_mode
        if stat.S_ISREG(mode):
            return StreamedResponse(200, _parts(os.fdopen(fd, "rb")))
        with opened(fd):
            if stat.S_ISDIR(mode):
                return Response(200, _listing(fd), "text/html; charset=utf-8")
    except (OSError, ValueError):
        pass
    return _not_found()


def _not_found() -> Response:
    return Response(404, b"404 page not found\n")


def _listing(fd: int) -> bytes:
    with os.scandir(fd) as entries:
        names = sorted(f"{each.name}/" if each.is_dir(follow_symlinks=False) else each.name for each in entries)
    lines = "".join(f'<a href="{quote(name)}">{html.escape(name)}</a>\n' for name in names)
    return f"<!doctype html>\n<pre>\n{lines}</pre>\n".encode()


async def _parts(file: BinaryIO) -> AsyncGenerator[bytes, None]:
    with file:
        while data := await asyncio.to_thread(file.read, _READ_BYTES):
            yield data
