"""Registry that serves the images of one `OciArchive`. Run as `python oci_registry.py ARCHIVE PORT`, on loopback.

It imports nothing of this package, so that it runs in any directory.
"""

import json
import re
import sys
import tarfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CHUNK_BYTES = 1 << 20


class Images:
    """Blobs of an archive by digest, and digests of manifests by the names of images."""

    def __init__(self, archive: Path) -> None:
        self._archive = archive
        with tarfile.open(archive) as tar:
            self._places = {entry.name: (entry.offset_data, entry.size) for entry in tar}
        index: dict[str, Any] = json.loads(b"".join(self._chunks("index.json")))
        self._manifests: dict[str, str] = {
            each["annotations"]["io.containerd.image.name"].partition("/")[2]: each["digest"]
            for each in index["manifests"]
        }

    def digest(self, repository: str, reference: str) -> str:
        """Return the digest of a manifest; empty for an unknown image."""
        if reference.startswith("sha256:"):
            return reference
        return self._manifests.get(f"{repository}:{reference}", "")

    def blob(self, digest: str) -> tuple[int, Iterator[bytes]] | None:
        """Return the size and the content of a blob; None for an unknown one."""
        name = f"blobs/sha256/{digest.partition(':')[2]}"
        place = self._places.get(name)
        return None if place is None else (place[1], self._chunks(name))

    def _chunks(self, name: str) -> Iterator[bytes]:
        offset, left = self._places[name]
        with self._archive.open("rb") as file:
            file.seek(offset)
            while left:
                chunk = file.read(min(left, _CHUNK_BYTES))
                left -= len(chunk)
                yield chunk


class _Handler(BaseHTTPRequestHandler):
    images: Images

    def do_GET(self) -> None:
        if self.path.rstrip("/") == "/v2":
            self._send("", 2, iter((b"{}",)), "application/json")
            return
        match = re.fullmatch(r"/v2/(.+)/(manifests|blobs)/([^/?]+)(\?.*)?", self.path)
        digest = "" if match is None else self.images.digest(match[1], match[3])
        found = self.images.blob(digest) if digest else None
        if match is None or found is None:
            self.send_error(404)
            return
        self._send(digest, *found, _MANIFEST if match[2] == "manifests" else "application/octet-stream")

    do_HEAD = do_GET

    def _send(self, digest: str, size: int, content: Iterator[bytes], media_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(size))
        if digest:
            self.send_header("Docker-Content-Digest", digest)
        self.end_headers()
        if self.command == "GET":
            for chunk in content:
                self.wfile.write(chunk)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


if __name__ == "__main__":
    _Handler.images = Images(Path(sys.argv[1]))
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), _Handler).serve_forever()
