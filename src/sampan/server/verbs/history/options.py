"""`HistoryOptions`: the query parameters of a history request."""

from enum import Enum
from typing import Final

import msgspec

from sampan.core.errors import bad_request
from sampan.core.numbers.resource_version import parse_resource_version
from sampan.server.request import Request
from sampan.server.verbs.options import ListOptions, parse_int

PARAMETER: Final = "sampan.dev/history"
"""Query parameter with the mode."""
BEFORE: Final = "sampan.dev/before"
"""Query parameter: only writes below this resourceVersion."""
LIMIT: Final = 100
LIMIT_MAX: Final = 500
_SELECTORS: Final = ("labelSelector", "fieldSelector")


class HistoryMode(Enum):
    """Writes that a request returns."""

    REVISIONS = "revisions"
    """Writes of one object."""
    DELETED = "deleted"
    """Deletions in a collection."""
    CHANGES = "changes"
    """All writes in a collection."""


class HistoryOptions(msgspec.Struct, frozen=True):
    """HistoryMode, start and number of writes of a request, and its selectors."""

    mode: HistoryMode
    before: int = 0
    """Only writes below this revision; 0: all."""
    limit: int = LIMIT
    selectors: ListOptions = ListOptions()


def history_options(request: Request) -> HistoryOptions:
    """Return the options of a request. Raises 400."""
    text = request.wire.param(PARAMETER)
    try:
        mode = HistoryMode(text)
    except ValueError:
        raise bad_request(f"{PARAMETER}={text[:64]!r}: use revisions, deleted or changes") from None
    is_object = len(request.info.parts) > 1
    if is_object is not (mode is HistoryMode.REVISIONS):
        raise bad_request(f"{PARAMETER}={mode.value} needs the path of {'a collection' if is_object else 'an object'}")
    if is_object and any(name in request.wire.query for name in _SELECTORS):
        raise bad_request(f"{PARAMETER}={mode.value} has no selectors: the path names the object")
    selectors = ListOptions(request.wire.param("labelSelector"), request.wire.param("fieldSelector"))
    return HistoryOptions(mode, _before(request), _limit(request), selectors)


def _before(request: Request) -> int:
    text = request.wire.param(BEFORE)
    try:
        return parse_resource_version(text)
    except ValueError:
        raise bad_request(f"{BEFORE}={text[:64]!r} is not a resourceVersion") from None


def _limit(request: Request) -> int:
    limit = parse_int(request, "limit")
    if limit is None:
        return LIMIT
    if not 0 < limit <= LIMIT_MAX:
        raise bad_request(f"limit={limit}: a history has 1 to {LIMIT_MAX} writes")
    return limit
