"""`StoredResources`: the resource of a key in the store."""

from collections.abc import Iterable

from sampan.registry.definition import ResourceDefinition


class StoredResources:
    """Finds the resource of a key, by the prefixes of built-in resources and the layout of custom resources' keys."""

    def __init__(self, definitions: Iterable[ResourceDefinition]) -> None:
        """`definitions`: the built-in resources."""
        self._prefixes: dict[str, tuple[str, str]] = {}
        for definition in definitions:
            # Events of the core group and of events.k8s.io share a prefix. Like Kubernetes, report the core group.
            found = self._prefixes.setdefault(definition.storage_prefix, (definition.group, definition.resource))
            if not definition.group and found != ("", definition.resource):
                self._prefixes[definition.storage_prefix] = ("", definition.resource)

    def of(self, key: str) -> tuple[str, str] | None:
        """Return group and resource; None if the key does not belong to an object."""
        parts = key.split("/", 4)
        if len(parts) < 4 or parts[1] != "registry":
            return None
        found = self._prefixes.get(f"/registry/{parts[2]}/")
        if found is None and len(parts) > 4:
            found = self._prefixes.get(f"/registry/{parts[2]}/{parts[3]}/")
            if found is None and "." in parts[2]:
                found = parts[2], parts[3]
        return found
