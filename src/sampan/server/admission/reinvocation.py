"""`Reinvocation`: which webhooks or policies are asked again in the second run of the mutating plug-ins.

Source: apiserver pkg/admission/plugin/webhook/mutating/reinvocationcontext.go (1.36).
"""

from collections.abc import Hashable

from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.server.admission.chain import Attributes


class Reinvocation:
    """What one plug-in keeps between the two runs for one request."""

    def __init__(self) -> None:
        self._output: Object | None = None
        self._asked: set[Hashable] = set()
        self._due: set[Hashable] = set()

    @classmethod
    def of(cls, attributes: Attributes, plugin: str) -> "Reinvocation":
        """That of a plug-in; made in the first run."""
        found = attributes.memory.get(plugin)
        if not isinstance(found, cls):
            found = attributes.memory[plugin] = cls()
        return found

    def begin(self, attributes: Attributes) -> None:
        """At the begin of a run: if others have changed the object since the first one, all are due again."""
        if attributes.is_reinvocation and self._output != attributes.obj:
            self.changed()

    def is_due(self, key: Hashable) -> bool:
        """Whether one is asked in the second run."""
        return key in self._due

    def changed(self) -> None:
        """The object has changed: those that have been asked before are due again."""
        self._due |= self._asked
        self._asked = set()

    def asked(self, key: Hashable) -> None:
        """One that may be asked again has been asked."""
        self._asked.add(key)

    def end(self, attributes: Attributes) -> None:
        """At the end of a run."""
        self._output = copy_json(attributes.obj)
