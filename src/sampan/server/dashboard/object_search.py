"""SelfObjectSearch (sampan.dev/v1alpha1): POST returns objects of all kinds whose names contain a text.

Only kinds and namespaces that the user may list are searched. Events are not: their names begin with those of their
objects. The best names come first: the text itself, then those that begin with it.

    {"spec": {"text": "web"}}
    {"status": {"groups": [{"group": "apps", "version": "v1", "resource": "deployments", "kind": "Deployment",
      "namespaced": true, "objects": [{"namespace": "shop", "name": "web"}], "more": 0}], "incomplete": false}}

Guarantees: a search decodes no object. It decides only about kinds and namespaces that have such names, and about at
most `DECISIONS_MAX` of them one by one. Its response has at most `KINDS_MAX` kinds with `OBJECTS_MAX` objects each, and
it gives way to other requests every few milliseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, Final

from sampan.core.errors import bad_request
from sampan.core.event_loop.time_slices import TimeSlices
from sampan.registry.definition import ResourceDefinition
from sampan.registry.reader import CacheReader
from sampan.registry.registry import ResourceRegistry
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.authorization.namespaces import allowed_namespaces
from sampan.server.dashboard.self_reviews import Review
from sampan.server.request import RequestInfo, UserInfo
from sampan.storage.records import Record

TEXT_MIN: Final = 2
TEXT_MAX: Final = 253
"""Limits of the length of the text: that of names."""
OBJECTS_MAX: Final = 8
KINDS_MAX: Final = 40
DECISIONS_MAX: Final = 1000
"""Namespaces that are decided one by one in a search: an authorizer may be a webhook."""
_STEP: Final = 1000
"""Names that are compared between two looks at the time."""
_Rank = tuple[int, int, str, str]


@dataclass(frozen=True, slots=True)
class ObjectSearch:
    """Search in the watch caches of one server."""

    registry: ResourceRegistry
    reader: CacheReader
    authorizer: Authorizer

    async def review(self, user: UserInfo, spec: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the spec and the status. Raises `StatusError` 400."""
        text = _text(spec)
        slices, incomplete = TimeSlices(), False
        left = DECISIONS_MAX
        found: list[tuple[_Rank, dict[str, Any]]] = []
        for definition in _searched(self.registry.definitions()):
            matching = await _matching(self.reader.records(definition.group, definition.resource), text, slices)
            if not matching:
                continue
            info = RequestInfo("", "list", is_resource=True, version=definition.storage_version)
            info.group, info.resource = definition.group, definition.resource
            namespaces = sorted({record.namespace for record in matching} - {""})
            allowed = await allowed_namespaces(self.authorizer, user, info, namespaces[:left])
            if not allowed.everywhere:
                incomplete, left = incomplete or len(namespaces) > left, max(0, left - len(namespaces))
            incomplete = incomplete or allowed.incomplete
            if not allowed.everywhere:
                visible = set(allowed.names)
                matching = [record for record in matching if record.namespace in visible]
            if matching:
                found.append(_group(definition, matching, text))
        found.sort(key=lambda each: each[0])
        incomplete = incomplete or len(found) > KINDS_MAX
        return {"text": text}, {"groups": [group for _, group in found[:KINDS_MAX]], "incomplete": incomplete}


def object_search(registry: ResourceRegistry, reader: CacheReader, authorizer: Authorizer) -> Review:
    """Return the function for `serving_reviews`."""
    return ObjectSearch(registry, reader, authorizer).review


def _searched(definitions: Sequence[ResourceDefinition]) -> list[ResourceDefinition]:
    """Return the listable kinds, each stored one once."""
    stored: dict[str, ResourceDefinition] = {}
    for definition in definitions:
        if "list" in definition.verbs and definition.resource != "events" and definition.storage_prefix:
            stored.setdefault(definition.storage_prefix, definition)
    return list(stored.values())


async def _matching(records: Sequence[Record], text: str, slices: TimeSlices) -> list[Record]:
    found: list[Record] = []
    for start in range(0, len(records), _STEP):
        found += [record for record in records[start : start + _STEP] if text in record.name]
        await slices.give_way()
    return found


def _group(definition: ResourceDefinition, matching: list[Record], text: str) -> tuple[_Rank, dict[str, Any]]:
    """Return the best objects of a kind, and the rank of the first."""

    def rank(record: Record) -> _Rank:
        start = 0 if record.name == text else 1 if record.name.startswith(text) else 2
        return start, len(record.name), record.name, record.namespace

    best = nsmallest(OBJECTS_MAX, matching, key=rank)
    group = {
        "group": definition.group,
        "version": definition.storage_version,
        "resource": definition.resource,
        "kind": definition.kind,
        "namespaced": definition.namespaced,
        "objects": [{"namespace": record.namespace, "name": record.name} for record in best],
        "more": len(matching) - len(best),
    }
    return rank(best[0]), group


def _text(spec: Any) -> str:
    """Return the text of a search, in lower case as names are. Raises `StatusError` 400."""
    given = spec if isinstance(spec, dict) else {}
    unknown = sorted(set(given) - {"text"})
    if unknown:
        raise bad_request(f"spec.{unknown[0]}: unknown field; the only one is text")
    text = given.get("text")
    if not isinstance(text, str) or not TEXT_MIN <= len(text.strip()) <= TEXT_MAX:
        raise bad_request(f"spec.text: must be a text of {TEXT_MIN} to {TEXT_MAX} characters")
    return text.strip().lower()
