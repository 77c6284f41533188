"""`write_snapshot`: writes rows to a file, with bounded memory."""

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
from isal import isal_zlib

from sampan.core.clock import utc_now
from sampan.storage.snapshot.draft import draft_of
from sampan.storage.snapshot.format import Header, Row, Summary, Totals, file_record, record
from sampan.storage.snapshot.rows import Rows, RowSnapshot

Progress = Callable[[int, int], None]
"""Receives the number of finished rows and the total."""

_LEVEL = 1


async def write_snapshot(
    rows: Rows,
    path: Path,
    *,
    made_by: str,
    files: Mapping[str, bytes] | None = None,
    force: bool = False,
    progress: Progress,
) -> Summary:
    """Write all rows of one revision, and `files` of the data directory, to `path`. Never leaves a partial file.

    Raises `SnapshotError` if the file exists (unless `force`), `OSError`, and the errors of `rows`.
    """
    # A draft that is renamed at the end: a reader sees the whole file or none.
    with draft_of(path, force=force) as file:
        # Everything is read at one revision, while writes continue.
        async with rows.state() as state:
            made_at = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
            header = Header(state.revision, rows.engine, made_at, made_by)
            output = _Output(file, header)
            for name, content in (files or {}).items():
                output.add_file(name, content)
            await _write_rows(output, state, progress)
        return output.finish()


async def _write_rows(output: "_Output", state: RowSnapshot, progress: Progress) -> None:
    done = 0
    progress(0, state.count)
    async for page in state.pages:
        output.add_rows(page)
        done += len(page)
        progress(done, state.count)


class _Output:
    """Output file that computes its checksum and totals while it is written."""

    def __init__(self, file: BinaryIO, header: Header) -> None:
        self._file = file
        self._header = header
        self._sha256 = hashlib.sha256()
        self._zlib = isal_zlib.compressobj(_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS)
        self._size = self._keys = self._value_bytes = self._files = 0
        self._write(msgspec.json.encode(header) + b"\n")

    def add_rows(self, rows: Sequence[Row]) -> None:
        parts = [part for row in rows for part in record(row)]
        self._keys += len(rows)
        self._value_bytes += sum(len(row.value) for row in rows)
        self._write(self._zlib.compress(b"".join(parts)))

    def add_file(self, name: str, content: bytes) -> None:
        self._files += 1
        self._write(self._zlib.compress(file_record(name, content)))

    def finish(self) -> Summary:
        totals = Totals(self._keys, self._value_bytes, self._files)
        self._write(self._zlib.flush() + b"\n" + msgspec.json.encode(totals) + b"\n")
        checksum = self._sha256.hexdigest()
        self._write(checksum.encode() + b"\n")
        return Summary(self._header, totals, checksum, self._size)

    def _write(self, content: bytes) -> None:
        self._sha256.update(content)
        self._size += len(content)
        self._file.write(content)
