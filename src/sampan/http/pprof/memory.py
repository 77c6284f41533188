"""`memory_profile`: objects and bytes in use.

With `tracemalloc` (`PYTHONTRACEMALLOC=25 sampan up`), the profile contains the stack of each allocation. Without it,
the profile contains the number of objects of each type. Objects from before the start of serving are frozen, so the
garbage collector does not list them and they are not counted.
"""

import gc
import sys
import tracemalloc
from collections import Counter

from sampan.http.pprof.profile import Frame, Profile

_TYPES = (("inuse_objects", "count"), ("inuse_space", "bytes"))


def memory_profile() -> Profile:
    """Return objects and bytes. Blocks all other work for some tens of milliseconds."""
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
