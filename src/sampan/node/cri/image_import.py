"""`import_images`: images of an archive for the Pods of a node, without a registry.

containerd reads archives of OCI and of `docker save`, by its program `ctr`. An archive may be compressed with gzip or
zstd. Imported images are pinned, so that the node's garbage collection keeps them.

Concurrency: blocks for as long as the import takes.
"""

import gzip
import io
import re
import shutil
import subprocess
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Final

NAMESPACE: Final = "k8s.io"
"""Namespace of containerd with the images of Pods."""
_PINNED: Final = "io.cri-containerd.pinned=pinned"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ERROR_MAX: Final = 2000


class ImportFailed(Exception):
    """The images were not imported. The message has the cause."""


def import_images(archive: io.BufferedReader, socket: str) -> list[str]:
    """Import the images of an archive, and return their names in order. **Raises** `ImportFailed`, `OSError`."""
    ctr = [*_program(), "--address", socket, "--namespace", NAMESPACE, "images"]
    before = _digests(ctr)
    with _decompressed(archive) as content:
        output = _fed([*ctr, "import", "-"], content)
    after = _digests(ctr)
    named = set(re.findall(r"^(?:unpacking )?(\S+)(?: \(sha256:|[ \t]+saved)", output, re.MULTILINE))
    imported = sorted(name for name, digest in after.items() if name in named or before.get(name) != digest)
    for name in imported:
        _run([*ctr, "label", name, _PINNED])
    return imported


def _program() -> Sequence[str]:
    if shutil.which("ctr"):
        return ("ctr",)
    if shutil.which("k3s"):
        return ("k3s", "ctr")
    raise ImportFailed("ctr is not on PATH. It is part of containerd: apt install containerd")


def _digests(ctr: Sequence[str]) -> dict[str, str]:
    """Return the digests of all images by name. The runtime also lists each image by its id, which is no name."""
    rows = (line.split() for line in _run([*ctr, "list"]).splitlines()[1:])
    return {row[0]: row[2] for row in rows if len(row) > 2 and not row[0].startswith("sha256:")}


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise ImportFailed(_cause(done.stderr))
    return done.stdout


@contextmanager
def _decompressed(archive: io.BufferedReader) -> Iterator[Any]:
    """Give the archive without its compression, as an object with `read`. **Raises** `ImportFailed`."""
    head = archive.peek(4)[:4]
    if not head:
        raise ImportFailed("the archive is empty")
    if head.startswith(_GZIP):
        with gzip.GzipFile(fileobj=archive) as content:
            yield content
    elif head == _ZSTD:
        with _zstd(archive) as content:
            yield content
    else:
        yield archive


@contextmanager
def _zstd(archive: IO[bytes]) -> Iterator[IO[bytes]]:
    if shutil.which("zstd") is None:
        raise ImportFailed("the archive is compressed with zstd, which is not on PATH: apt install zstd")
    # The archive was read ahead, so its file cannot be given to the program itself.
    with subprocess.Popen(["zstd", "-dc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        writer = threading.Thread(target=_copy, args=(archive, program.stdin), daemon=True)
        writer.start()
        yield program.stdout
        program.stdout.close()
        writer.join()
    if program.returncode:
        raise ImportFailed("zstd cannot decompress the archive")


def _fed(command: Sequence[str], content: IO[bytes]) -> str:
    """Run a program with the content as its input, and return its output. **Raises** `ImportFailed`."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        output, lines = bytearray(), program.stdout
        reader = threading.Thread(target=lambda: output.extend(lines.read()), daemon=True)
        reader.start()
        try:
            _copy(content, program.stdin)
        except (OSError, EOFError, zlib.error) as error:
            program.kill()
            raise ImportFailed(f"cannot read the archive: {error}") from error
        reader.join()
    text = output.decode("utf-8", "replace")
    if program.returncode:
        raise ImportFailed(_cause(text))
    return text


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    """Copy to a program until it does not read any more. **Raises** errors of the source."""
    with suppress(BrokenPipeError), target:
        while piece := source.read(1 << 20):
            target.write(piece)


def _cause(text: str) -> str:
    """Return the end of a program's output, without `ctr: ` and empty lines."""
    lines = [line.removeprefix("ctr: ") for line in text.strip()[-_ERROR_MAX:].splitlines() if line.strip()]
    return lines[-1] if lines else "ctr failed"
