"""`AwaitedConversion`: lets code that cannot wait convert by a webhook, by being run again when the answer is there.

Who owns which field is compared in each version that somebody has written in, by plain functions; what a webhook has to
convert for that is known only as they run. Source: apimachinery pkg/util/managedfields/internal/versionconverter.go
(1.36), which asks the webhook in the middle of it.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

from sampan.core.object import Object
from sampan.registry.definition import WebhookConversion
from sampan.storage.encoding import decode
from sampan.wire.json import encode

T = TypeVar("T")
_Asked = tuple[bytes, str]
"""An object, and the version that it is wanted in."""
_KEPT_MAX: Final = 64


class ConversionNeeded(Exception):
    """Nobody has converted this object to this version yet."""

    def __init__(self, obj: Object, api_version: str) -> None:
        super().__init__(api_version)
        self.obj, self.api_version = obj, api_version


class AwaitedConversion:
    """The conversions of one CRD's objects. The last answers are kept, by what was asked."""

    def __init__(self, webhook: WebhookConversion) -> None:
        self._webhook = webhook
        self._known: OrderedDict[_Asked, bytes] = OrderedDict()
        self._own: dict[_Asked, bytes] = {}
        """Those of the `run` whose work is being done: however many others push theirs out, each is asked for once."""

    def convert(self, obj: Object, api_version: str) -> Object:
        """A private copy in a version, without managedFields. Raises `ConversionNeeded` inside of `run`."""
        obj = {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key != "managedFields"}}
        asked = encode(obj), api_version
        found = self._own.get(asked) or self._known.get(asked)
        if found is None:
            raise ConversionNeeded(obj, api_version)
        converted: Object = decode(found)
        return converted

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` gives, with all that it converts. `work` may be called several times, and must leave things as
        they were when it raises. Raises `StatusError` 500 where the webhook fails.
        """
        own: dict[_Asked, bytes] = {}
        while True:
            self._own = own
            try:
                return work()
            except ConversionNeeded as needed:
                asked = (encode(needed.obj), needed.api_version)
                (converted,) = await self._webhook.convert([needed.obj], needed.api_version)
                own[asked] = self._known[asked] = encode(converted)
                if len(self._known) > _KEPT_MAX:
                    self._known.popitem(last=False)
