"""`seeded`: all random numbers of a run come from one seed: uids, generated names, jitter and tokens.

Keys of the process are not repeatable, because OpenSSL makes them.
"""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_random: Final[Any] = random


@contextmanager
def seeded(seed: int | str) -> Iterator[None]:
    """Make `random`, `os.urandom`, `uuid.uuid4` and `secrets` repeatable in the block, for all threads."""
    state, system, imported = random.getstate(), os.urandom, _random._urandom
    numbers = random.Random(seed)
    random.seed(seed)
    os.urandom = _random._urandom = numbers.randbytes
    try:
        yield
    finally:
        random.setstate(state)
        os.urandom, _random._urandom = system, imported
