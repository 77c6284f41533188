"""Conversion of custom resources by a webhook. One review contains all objects that a request needs.

Concurrency: `convert` runs in the caller's task. An LRU cache holds converted records. `shared_records` admits one
caller at a time, so that watchers of the same records cause one request.
Source: apiextensions pkg/apiserver/conversion/webhook_converter.go (1.36).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

import msgspec

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.core.telemetry.tracing import part_of_current
from sampan.patch.errors import unexpected
from sampan.registry.crd.conversion_review import ConversionReviewError, accepted, request, responses_of, review_version
from sampan.registry.endpoint import encode_prefix
from sampan.registry.rest.metadata import new_uid
from sampan.registry.webhook.client import Webhook, WebhookError
from sampan.schema.compile import DecodeError
from sampan.storage.encoding import decode, encode, splice
from sampan.storage.records import Record
from sampan.wire import json as wire_json

TIMEOUT_S = 30
CACHE_BYTES_MAX = 16 << 20

Prune = Callable[[Object], None]
Converted = Callable[[tuple[str, str], str, float], None]
"""Receives the versions from and to, the kind of failure ("" if none) and the duration in seconds."""

_CALL_FAILURE = "conversion_webhook_call_failure"
_MALFORMED = "conversion_webhook_malformed_response_failure"
_PARTIAL = "conversion_webhook_partial_response_failure"
_INVALID = "conversion_webhook_invalid_converted_object_failure"


_Key = tuple[str, str, int, int]


class WebhookConversion:
    """Conversion of one CRD. `prune` maps an apiVersion to the function that drops fields that are not in its
    schema.
    """

    def __init__(
        self,
        kind: str,
        webhook: Webhook,
        review_versions: Sequence[str],
        prune: Mapping[str, Prune],
        converted: "Converted | None" = None,
    ) -> None:
        """Create a conversion. `converted` is called after each request."""
        self._kind = kind
        self._webhook = webhook
        self._review_versions = review_versions
        self._prune = prune
        self._cache: OrderedDict[_Key, Record] = OrderedDict()
        self._cache_bytes = 0
        self._lock = asyncio.Lock()
        self._converted = converted or uncounted

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        """Return the objects in a version, in order. Raises `StatusError` 500 if any of them fails."""
        others = [obj for obj in objects if obj["apiVersion"] != api_version]
        if not others:
            return list(objects)
        converted = iter(await self._convert_others(others, api_version))
        return [obj if obj["apiVersion"] == api_version else next(converted) for obj in objects]

    async def _convert_others(self, objects: list[Object], api_version: str) -> list[Object]:
        versions = (_version(objects[0]["apiVersion"]), _version(api_version))
        call, began = _CallState(), perf_counter()
        try:
            results = await self._request(objects, api_version, call)
        except StatusError:
            self._converted(versions, call.failure, perf_counter() - began)
            raise
        self._converted(versions, "", perf_counter() - began)
        return results

    async def _request(self, objects: list[Object], api_version: str, call: "_CallState") -> list[Object]:
        subject = f"conversion webhook for {objects[0]['apiVersion']}, Kind={objects[0]['kind']}"
        uid = new_uid()
        version = review_version(self._review_versions)
        if version is None:
            raise unexpected("no supported conversion review versions")
        attributes: dict[str, str | int] = {
            "desired-api-version": api_version,
            "object-count": len(objects),
            "UID": uid,
        }
        try:
            with part_of_current("Call conversion webhook", attributes):
                body = await self._webhook.post(request(version, uid, objects, api_version), TIMEOUT_S)
            call.failure = _MALFORMED
            found = responses_of(version, uid, body)
        except (WebhookError, ConversionReviewError) as error:
            raise unexpected(f"{subject} failed: {error}") from None
        call.failure = _PARTIAL
        if len(found) != len(objects):
            raise unexpected(f"{subject} returned {len(found)} objects, expected {len(objects)}")
        call.failure = _INVALID
        results = []
        for index, (original, converted) in enumerate(zip(objects, found, strict=True)):
            try:
                result = accepted(original, converted, api_version)
                self._prune[api_version](result)
            except DecodeError as error:
                raise unexpected(f"{subject} returned invalid converted object at index {index}: {error}") from None
            except ConversionReviewError as error:
                before = "" if error.before is None else f"{subject} {error.before.format(index)}"
                raise unexpected(before + str(error)) from None
            results.append(result)
        return results

    async def values(self, values: Sequence[bytes], api_version: str) -> list[bytes]:
        """Return objects in a version, as canonical bytes with their resourceVersion. Raises like `convert`."""
        prefix = encode_prefix(self._kind, api_version)
        if all(value.startswith(prefix) for value in values):
            return list(values)
        converted = await self.convert([decode(value) for value in values], api_version)
        return [_bytes(obj) for obj in converted]

    async def records(self, records: Sequence[Record], api_version: str, *, refresh: bool = False) -> list[Record]:
        """Return records with their values in a version. Raises like `convert`.

        Records that were converted before come from the cache, unless `refresh` is set.
        """
        prefix = encode_prefix(self._kind, api_version)
        results = [
            record if record.value.startswith(prefix) else None if refresh else self._cached(record, api_version)
            for record in records
        ]
        missing = [index for index, record in enumerate(results) if record is None]
        values = await self.values([records[index].value for index in missing], api_version)
        for index, value in zip(missing, values, strict=True):
            record = results[index] = msgspec.structs.replace(records[index], value=value)
            self._store(_key(records[index], api_version), record)
        return [record for record in results if record is not None]

    async def shared_records(self, records: Sequence[Record], api_version: str) -> list[Record]:
        """Return records like `records`, but wait for earlier callers first, so that their results are in the cache."""
        async with self._lock:
            return await self.records(records, api_version)

    def _cached(self, record: Record, api_version: str) -> Record | None:
        key = _key(record, api_version)
        found = self._cache.get(key)
        if found is not None:
            self._cache.move_to_end(key)
        return found

    def _store(self, key: _Key, record: Record) -> None:
        if key not in self._cache:
            self._cache_bytes += len(record.value)
        self._cache[key] = record
        while self._cache_bytes > CACHE_BYTES_MAX:
            _, oldest = self._cache.popitem(last=False)
            self._cache_bytes -= len(oldest.value)


def _key(record: Record, api_version: str) -> _Key:
    """Key of a converted record.

    The revision is not sufficient. If an object stops matching a selector, the record of its last matching state has
    the same revision as the new state.
    """
    return api_version, record.key, record.revision, hash(record.value)


class _CallState:
    """Kind of failure to count if the call fails at the current step. Each step updates it."""

    failure = _CALL_FAILURE


def _version(api_version: str) -> str:
    return str(api_version).rpartition("/")[2]


def uncounted(versions: tuple[str, str], failure: str, seconds: float) -> None:
    """Ignore the result of a request."""


def _bytes(obj: Object) -> bytes:
    """Return canonical bytes, as in a record. An object of a dry run has no resourceVersion."""
    revision = obj["metadata"].get("resourceVersion")
    return splice(encode(obj), int(revision)) if revision else wire_json.encode(obj)
