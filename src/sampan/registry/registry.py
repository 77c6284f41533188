"""`ResourceRegistry`: which resources are served now. Built-ins, CRDs and (later) aggregated APIs all register here."""

from collections.abc import Callable, Collection

from sampan.registry.definition import ResourceDefinition, VersionDefinition

Subscriber = Callable[[], None]


class ResourceRegistry:
    """The definitions by group and resource. One writer (the cluster's loop), many readers.

    `generation` grows with each change of the served resources; it is the cache key of discovery and OpenAPI.
    """

    def __init__(self) -> None:
        self._definitions: dict[tuple[str, str], ResourceDefinition] = {}
        self._served: dict[tuple[str, str, str], tuple[ResourceDefinition, VersionDefinition]] = {}
        self._subscribers: list[Subscriber] = []
        self.generation = 0

    def definitions(self) -> list[ResourceDefinition]:
        """All definitions, in the order in which they were first registered."""
        return list(self._definitions.values())

    def resources(self) -> Collection[tuple[str, str]]:
        """Return a live view of the (group, resource) keys of all definitions."""
        return self._definitions.keys()

    def get(self, group: str, resource: str) -> ResourceDefinition | None:
        """Return the definition of a resource, or None."""
        return self._definitions.get((group, resource))

    def lookup(self, group: str, version: str, resource: str) -> tuple[ResourceDefinition, VersionDefinition] | None:
        """Return the definitions that serve a version of a resource, or None."""
        return self._served.get((group, version, resource))

    def add(self, *definitions: ResourceDefinition) -> None:
        """Serve these resources. Each replaces an earlier one of the same group and name."""
        for definition in definitions:
            self._forget(definition.group, definition.resource)
            self._definitions[definition.group, definition.resource] = definition
            for version in definition.versions.values():
                if version.served:
                    self._served[definition.group, version.name, definition.resource] = (definition, version)
        self._changed()

    def remove(self, group: str, resource: str) -> None:
        """Stop serving a resource. Do nothing if it is not served."""
        if self._definitions.pop((group, resource), None) is not None:
            self._forget(group, resource)
            self._changed()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` after each change; the returned function ends the subscription."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def _forget(self, group: str, resource: str) -> None:
        for key in [key for key in self._served if key[0] == group and key[2] == resource]:
            del self._served[key]

    def _changed(self) -> None:
        self.generation += 1
        for subscriber in list(self._subscribers):
            subscriber()
