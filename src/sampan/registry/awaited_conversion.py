"""`AwaitedConversion`: webhook conversions for synchronous code.

The field manager consists of plain functions that compare field ownership in each version that a client has written in.
Which objects a webhook must convert becomes clear only while they run. So they raise `ConversionNeeded`; `run` awaits
the webhook and calls the function again, with the webhook's response in the cache.
Source: apimachinery pkg/util/managedfields/internal/versionconverter.go (1.36), which blocks on the webhook instead.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

from sampan.core.object import Object
from sampan.registry.definition import WebhookConversion
from sampan.storage.encoding import decode
from sampan.wire.json import encode

T = TypeVar("T")
_Conversion = tuple[bytes, str]
"""Encoded object, and the version to convert it to."""
_KEPT_MAX: Final = 64


class ConversionNeeded(Exception):
    """The object must be converted to the version by a webhook before the work can continue."""

    def __init__(self, obj: Object, api_version: str) -> None:
        super().__init__(api_version)
        self.obj, self.api_version = obj, api_version


class AwaitedConversion:
    """Conversions of the objects of one CRD, with a cache of the most recent conversions."""

    def __init__(self, webhook: WebhookConversion) -> None:
        self._webhook = webhook
        self._known: OrderedDict[_Conversion, bytes] = OrderedDict()
        self._own: dict[_Conversion, bytes] = {}
        """Conversions of the current `run`. Each conversion is requested once, even if other runs evict it from the
        cache.
        """

    def convert(self, obj: Object, api_version: str) -> Object:
        """Return a private copy in a version, without managedFields. Raises `ConversionNeeded`, which `run` handles."""
        obj = {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key != "managedFields"}}
        desired = encode(obj), api_version
        found = self._own.get(desired) or self._known.get(desired)
        if found is None:
            raise ConversionNeeded(obj, api_version)
        converted: Object = decode(found)
        return converted

    async def run(self, work: Callable[[], T]) -> T:
        """Call `work` until all its conversions are known, and return its result.

        `work` must have no effects if it raises. Raises `StatusError` 500 if the webhook fails.
        """
        own: dict[_Conversion, bytes] = {}
        while True:
            self._own = own
            try:
                return work()
            except ConversionNeeded as needed:
                desired = (encode(needed.obj), needed.api_version)
                (converted,) = await self._webhook.convert([needed.obj], needed.api_version)
                own[desired] = self._known[desired] = encode(converted)
                if len(self._known) > _KEPT_MAX:
                    self._known.popitem(last=False)
