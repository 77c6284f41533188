"""Start the warm parent: python -m sampan.cli.test_server.warm DIRECTORY. It exits when there is one that serves."""

import gc
import os
import sys
from importlib import import_module
from pathlib import Path

from sampan.test_server.place import LOG, PlaceError, take_place


def main() -> None:
    """Take the lock, and only then import the modules that take long to import."""
    directory = Path(sys.argv[1])
    try:
        lock = take_place(directory)
    except (PlaceError, OSError) as error:
        sys.exit(f"sampan: error: {error}")
    if lock is None:
        return
    with lock:
        log = os.open(directory / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        # Objects made during imports live on. A collection there would find no garbage, but takes a fifth of the start.
        gc.disable()
        process = import_module("sampan.cli.test_server.warm_process")
        gc.freeze()
        gc.enable()
        process.run(directory)


if __name__ == "__main__":
    main()
