"""`memory_profile`: what takes memory.

Where `tracemalloc` runs (`PYTHONTRACEMALLOC=25 sampan up`) each allocation has its stack. Else there is what the
garbage collector knows: how many objects there are of each type. What the process had made when it began to serve is
out of the collector's sight, and is not counted then.
"""

import gc
import sys
import tracemalloc
from collections import Counter

from sampan.server.profiling.profile import Frame, Profile

_TYPES = (("inuse_objects", "count"), ("inuse_space", "bytes"))


def memory_profile() -> Profile:
    """Objects and bytes. Takes some tens of milliseconds, during which nothing else runs."""
    return _traced() if tracemalloc.is_tracing() else _counted()


def _traced() -> Profile:
    profile = Profile(_TYPES)
    for trace in tracemalloc.take_snapshot().statistics("traceback"):
        stack = tuple(
            Frame(f"{frame.filename}:{frame.lineno}", frame.filename, 0, frame.lineno) for frame in trace.traceback
        )
        profile.add(stack[::-1], trace.count, trace.size)
    return profile


def _counted() -> Profile:
    counts: Counter[type] = Counter()
    sizes: Counter[type] = Counter()
    for obj in gc.get_objects():
        kind = type(obj)
        counts[kind] += 1
        sizes[kind] += sys.getsizeof(obj, 0)
    profile = Profile(_TYPES)
    for kind, count in counts.items():
        profile.add((Frame(f"{kind.__module__}.{kind.__qualname__}"),), count, sizes[kind])
    return profile
