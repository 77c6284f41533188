"""Conversion of custom resources by a webhook: all objects that one request needs go in one review.

Concurrency: `convert` runs in its caller's task. Converted records are kept, the least recently used ones leave first;
`shared_records` lets one caller ask at a time, so that watchers of the same records ask once.
Source: apiextensions pkg/apiserver/conversion/webhook_converter.go (1.36).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

import msgspec

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.core.tracing import part_of_current
from sampan.patch.errors import unexpected
from sampan.registry.crd.conversion_review import ReviewError, accepted, answer, request, review_version
from sampan.registry.endpoint import encode_prefix
from sampan.registry.rest.metadata import new_uid
from sampan.registry.webhook.client import Webhook, WebhookError
from sampan.schema.compile import DecodeError
from sampan.storage.encoding import decode, encode, splice
from sampan.storage.records import Record
from sampan.wire import json as wire_json

TIMEOUT_S = 30
KEPT_BYTES_MAX = 16 << 20

Prune = Callable[[Object], None]
Converted = Callable[[tuple[str, str], str, float], None]
"""Takes the versions from and to, the kind of failure ("": none), and the seconds that it took."""

_CALL_FAILURE = "conversion_webhook_call_failure"
_MALFORMED = "conversion_webhook_malformed_response_failure"
_PARTIAL = "conversion_webhook_partial_response_failure"
_INVALID = "conversion_webhook_invalid_converted_object_failure"


_Key = tuple[str, str, int, int]


class WebhookConversion:
    """The conversion of one CRD. `prune` knows by apiVersion how an object loses what its schema does not know."""

    def __init__(self, kind: str, webhook: Webhook, review_versions: Sequence[str], prune: Mapping[str, Prune]) -> None:
        self._kind = kind
        self._webhook = webhook
        self._review_versions = review_versions
        self._prune = prune
        self._kept: OrderedDict[_Key, Record] = OrderedDict()
        self._kept_bytes = 0
        self._turn = asyncio.Lock()
        self.converted: Converted = _untold
        """Is told of each call. Set before the first one."""

    async def convert(self, objects: Sequence[Object], api_version: str) -> list[Object]:
        """The objects in a version, in order. Raises `StatusError` 500; then none is converted."""
        others = [obj for obj in objects if obj["apiVersion"] != api_version]
        if not others:
            return list(objects)
        converted = iter(await self._ask(others, api_version))
        return [obj if obj["apiVersion"] == api_version else next(converted) for obj in objects]

    async def _ask(self, objects: list[Object], api_version: str) -> list[Object]:
        versions = (_version(objects[0]["apiVersion"]), _version(api_version))
        call, began = _Call(), perf_counter()
        try:
            results = await self._answered(objects, api_version, call)
        except StatusError:
            self.converted(versions, call.failure, perf_counter() - began)
            raise
        self.converted(versions, "", perf_counter() - began)
        return results

    async def _answered(self, objects: list[Object], api_version: str, call: "_Call") -> list[Object]:
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
            found = answer(version, uid, body)
        except (WebhookError, ReviewError) as error:
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
            except ReviewError as error:
                before = "" if error.before is None else f"{subject} {error.before.format(index)}"
                raise unexpected(before + str(error)) from None
            results.append(result)
        return results

    async def values(self, values: Sequence[bytes], api_version: str) -> list[bytes]:
        """Objects as canonical bytes with their resourceVersion, in a version. Raises as `convert`."""
        prefix = encode_prefix(self._kind, api_version)
        if all(value.startswith(prefix) for value in values):
            return list(values)
        converted = await self.convert([decode(value) for value in values], api_version)
        return [_bytes(obj) for obj in converted]

    async def records(self, records: Sequence[Record], api_version: str, *, anew: bool = False) -> list[Record]:
        """Records with their values in a version; those that were converted before are not asked for again, unless
        `anew`. Raises as `convert`.
        """
        prefix = encode_prefix(self._kind, api_version)
        results = [
            record if record.value.startswith(prefix) else None if anew else self._known(record, api_version)
            for record in records
        ]
        missing = [index for index, record in enumerate(results) if record is None]
        values = await self.values([records[index].value for index in missing], api_version)
        for index, value in zip(missing, values, strict=True):
            record = results[index] = msgspec.structs.replace(records[index], value=value)
            self._keep(_key(records[index], api_version), record)
        return [record for record in results if record is not None]

    async def shared_records(self, records: Sequence[Record], api_version: str) -> list[Record]:
        """As `records`, after those who came before."""
        async with self._turn:
            return await self.records(records, api_version)

    def _known(self, record: Record, api_version: str) -> Record | None:
        key = _key(record, api_version)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def _keep(self, key: _Key, record: Record) -> None:
        if key not in self._kept:
            self._kept_bytes += len(record.value)
        self._kept[key] = record
        while self._kept_bytes > KEPT_BYTES_MAX:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest.value)


def _key(record: Record, api_version: str) -> _Key:
    """Key of a converted record.

    The revision is not enough: the last state of an object that a selector no longer selects has the revision of the
    change, as the new state has.
    """
    return api_version, record.key, record.revision, hash(record.value)


class _Call:
    """How it fails, if it does."""

    failure = _CALL_FAILURE


def _version(api_version: str) -> str:
    return str(api_version).rpartition("/")[2]


def _untold(versions: tuple[str, str], failure: str, seconds: float) -> None:
    """Nobody wants to know."""


def _bytes(obj: Object) -> bytes:
    """Canonical bytes, as a record has them; an object of a dry run has no resourceVersion."""
    revision = obj["metadata"].get("resourceVersion")
    return splice(encode(obj), int(revision)) if revision else wire_json.encode(obj)
