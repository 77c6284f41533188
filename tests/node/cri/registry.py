"""Registry with two images, made of programs of this machine. Run as `python registry.py DIRECTORY PORT`.

`build` writes the images' blobs. The server is a separate process, because it must be in the network namespace of the
container runtime.
"""

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_PROGRAMS = ("/bin/sh", "/bin/sleep", "/bin/cat")


def build(directory: Path) -> None:
    """Write the blobs of the images, by digest, and their manifests as `app` and `pause`."""
    directory.mkdir(parents=True, exist_ok=True)
    layer = _layer(_PROGRAMS)
    for name in ("app", "pause"):
        _build(directory, name, layer)


def _build(directory: Path, name: str, layer: bytes) -> None:
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": ["/bin/sleep"], "Cmd": ["1000"], "Env": ["PATH=/bin"], "Labels": {"name": name}},
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": _store(directory, json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json"),
        "layers": [_store(directory, layer, "application/vnd.oci.image.layer.v1.tar")],
    }
    data = json.dumps(manifest).encode()
    _store(directory, data, _MANIFEST)
    (directory / name).write_bytes(data)


def _layer(programs: Iterable[str]) -> bytes:
    """Return an uncompressed tar with the programs and the shared libraries that they load."""
    files: dict[str, str] = {}
    for program in programs:
        files[program.lstrip("/")] = program
        linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        files |= {path.lstrip("/"): path for path in re.findall(r"(/\S+) \(0x", linked)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as tar:
        for name in ("tmp", "dev", "proc", "sys", "etc"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for name, path in sorted(files.items()):
            tar.add(path, name, recursive=False)
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _store(directory: Path, data: bytes, media_type: str) -> dict[str, str | int]:
    digest = _digest(data)
    (directory / digest).write_bytes(data)
    return {"mediaType": media_type, "digest": digest, "size": len(data)}


class _Handler(BaseHTTPRequestHandler):
    """Serves every repository whose name ends with `app` or `pause`."""

    directory = Path()

    def do_GET(self) -> None:
        match = re.fullmatch(r"/v2/.*(app|pause)/(manifests|blobs)/([^/?]+).*", self.path)
        if self.path == "/v2/":
            self._send(b"{}", "application/json")
            return
        name = "" if match is None else match[3] if match[3].startswith("sha256:") else match[1]
        path = self.directory / name
        if not name or not path.is_file():
            self.send_error(404)
            return
        assert match is not None
        self._send(path.read_bytes(), _MANIFEST if match[2] == "manifests" else "application/octet-stream")

    do_HEAD = do_GET

    def _send(self, data: bytes, media_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Docker-Content-Digest", _digest(data))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


if __name__ == "__main__":
    _Handler.directory = Path(sys.argv[1])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), _Handler).serve_forever()
