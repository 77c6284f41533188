"""`BlobStore`: blobs in a directory, by digest. It is a cache: each blob can be made or fetched again."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, Final

from sampan.oci.descriptor import Descriptor, checked_digest, digest_of
from sampan.oci.errors import OciError

_CHUNK_BYTES: Final = 1 << 20


class BlobStore:
    """Blobs as files `sha256/HEX`. Several processes may use one directory: a file appears only when it is complete.

    The content of a blob is checked when it is added, not when it is read.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __contains__(self, digest: str) -> bool:
        return self.path(digest).is_file()

    def path(self, digest: str) -> Path:
        """Return the path of a blob, whether it exists or not. Raises `OciError` for a bad digest."""
        return self._directory / checked_digest(digest).replace(":", "/")

    def read(self, digest: str) -> bytes:
        """Return the content of a blob. Raises `OciError` if it is absent."""
        try:
            return self.path(digest).read_bytes()
        except FileNotFoundError:
            raise OciError(f"blob {digest} is missing in {self._directory}") from None

    def add(self, content: bytes, media_type: str) -> Descriptor:
        """Store content under its digest, and return its descriptor. Known content is not written again."""
        found = Descriptor.of(content, media_type)
        if found.digest not in self:
            with self._draft(found.digest) as file:
                file.write(content)
        return found

    def add_file(self, source: Path, descriptor: Descriptor) -> None:
        """Copy a blob from a file. Raises `OciError` if its digest or size differs."""
        with source.open("rb") as file:
            if descriptor.digest not in self:
                self._copy(descriptor, iter(lambda: file.read(_CHUNK_BYTES), b""), str(source))

    async def add_stream(self, descriptor: Descriptor, chunks: AsyncIterator[bytes], source: str) -> None:
        """Add a blob from the network. Raises `OciError` if its digest differs, and as soon as it is too large."""
        if descriptor.digest in self:
            return
        with self._draft(descriptor.digest) as file:
            check = _Check(descriptor, source)
            async for chunk in chunks:
                check.add(chunk)
                file.write(chunk)
            check.finish()

    def _copy(self, descriptor: Descriptor, chunks: Iterator[bytes], source: str) -> None:
        with self._draft(descriptor.digest) as file:
            check = _Check(descriptor, source)
            for chunk in chunks:
                check.add(chunk)
                file.write(chunk)
            check.finish()

    @contextlib.contextmanager
    def _draft(self, digest: str) -> Iterator[IO[bytes]]:
        """Open a file that becomes the blob if the block ends without an error."""
        target = self.path(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=".draft-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
            os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise


class _Check:
    """Size and digest of a blob while it is copied."""

    def __init__(self, descriptor: Descriptor, source: str) -> None:
        self._descriptor, self._source = descriptor, source
        self._hash = hashlib.sha256()
        self._size = 0

    def add(self, chunk: bytes) -> None:
        self._hash.update(chunk)
        self._size += len(chunk)
        if self._size > self._descriptor.size:
            raise OciError(f"{self._source}: blob {self._descriptor.digest} has over {self._descriptor.size} bytes")

    def finish(self) -> None:
        found = f"sha256:{self._hash.hexdigest()}"
        if found != self._descriptor.digest or self._size != self._descriptor.size:
            raise OciError(f"{self._source}: expected blob {self._descriptor.digest}, received {found}")


def check_content(content: bytes, descriptor: Descriptor, source: str) -> bytes:
    """Return the content if it is the blob of this descriptor. Raises `OciError`."""
    if len(content) != descriptor.size or digest_of(content) != descriptor.digest:
        raise OciError(f"{source}: expected blob {descriptor.digest}, received {digest_of(content)}")
    return content
