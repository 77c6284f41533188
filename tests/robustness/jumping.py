"""`sampan` with a wall clock that is wrong by the number of seconds in a file."""

import datetime
import os
from pathlib import Path

from sampan.cli.main import main
from sampan.core.time import SystemClock

FILE = "SAMPAN_TEST_CLOCK"


def jump() -> None:
    """Have the server's clock read the file each time."""
    file, right = Path(os.environ[FILE]), SystemClock.now

    def now(self: SystemClock) -> datetime.datetime:
        return right(self) + datetime.timedelta(seconds=float(file.read_text()))

    SystemClock.now = now  # type: ignore[method-assign]  # the one place where the time comes from


if __name__ == "__main__":
    jump()
    main()
