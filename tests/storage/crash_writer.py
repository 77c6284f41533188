"""Write to a store until killed, and print the acknowledged writes. A child process of test_crash."""

import asyncio
import os
import sys

from sampan.storage.sqlite import SQLiteStore

WRITERS = 16
PREFIX = "/registry/pods/"


async def _write(store: SQLiteStore, writer: int) -> None:
    key = f"{PREFIX}{writer}"
    row = await store.get(key)
    revision = row.mod_revision if row else 0
    number = int(row.value.split()[0]) if row else 0
    while True:
        number += 1
        value = b"%d " % number + b"x" * 700
        if revision and number % 7 == 0:
            deleted = await store.delete(key, revision)
            os.write(1, b"%d %d -1\n" % (writer, deleted))
            revision = 0
        elif revision:
            revision = await store.update(key, value, revision)
            os.write(1, b"%d %d %d\n" % (writer, revision, number))
        else:
            revision = await store.create(key, value)
            os.write(1, b"%d %d %d\n" % (writer, revision, number))


async def _compact(store: SQLiteStore) -> None:
    """Now and then, but never the last 5,000 revisions: the test watches from there."""
    while True:
        await asyncio.sleep(0.01)
        revision = await store.revision() - 5_000
        if revision > 0:
            await store.compact(revision)


async def _main(path: str) -> None:
    store = SQLiteStore(path)
    await store.open()
    await asyncio.gather(_compact(store), *(_write(store, writer) for writer in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
