"""`Reinvocation`: selects the webhooks or policies of the second run of the mutating plug-ins.

Source: apiserver pkg/admission/plugin/webhook/mutating/reinvocationcontext.go (1.36).
"""

from collections.abc import Hashable

from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.server.admission.chain import Attributes


class Reinvocation:
    """State of one plug-in for one request, between the two runs."""

    def __init__(self) -> None:
        self._output: Object | None = None
        self._called: set[Hashable] = set()
        self._due: set[Hashable] = set()

    @classmethod
    def of(cls, attributes: Attributes, plugin: str) -> "Reinvocation":
        """Return the state of a plug-in. The first run creates it."""
        found = attributes.memory.get(plugin)
        if not isinstance(found, cls):
            found = attributes.memory[plugin] = cls()
        return found

    def begin(self, attributes: Attributes) -> None:
        """Begin a run. If other plug-ins have changed the object since the first run, all calls must be repeated."""
        if attributes.is_reinvocation and not same(self._output, attributes.obj):
            self.changed()

    def is_due(self, key: Hashable) -> bool:
        """Return True if a webhook or policy must be called again in the second run."""
        return key in self._due

    def changed(self) -> None:
        """Record a change of the object: earlier calls must be repeated."""
        self._due |= self._called
        self._called = set()

    def called(self, key: Hashable) -> None:
        """Record a call that may be repeated."""
        self._called.add(key)

    def end(self, attributes: Attributes) -> None:
        """End a run."""
        self._output = copy_json(attributes.obj)
