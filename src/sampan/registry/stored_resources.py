"""`StoredResources`: what lies where in the store."""

from sampan.registry.registry import ResourceRegistry


class StoredResources:
    """Tells of a key whose it is, from the built-in resources' prefixes and the layout of custom resources' keys."""

    def __init__(self, registry: ResourceRegistry) -> None:
        self._prefixes: dict[str, tuple[str, str]] = {}
        for definition in registry.definitions():
            # Core events and those of events.k8s.io lie in the same place: the first one counts, as for Kubernetes.
            found = self._prefixes.setdefault(definition.storage_prefix, (definition.group, definition.resource))
            if not definition.group and found != ("", definition.resource):
                self._prefixes[definition.storage_prefix] = ("", definition.resource)

    def of(self, key: str) -> tuple[str, str] | None:
        """Group and resource; None: the key is no object's."""
        parts = key.split("/", 4)
        if len(parts) < 4 or parts[1] != "registry":
            return None
        found = self._prefixes.get(f"/registry/{parts[2]}/")
        if found is None and len(parts) > 4:
            found = self._prefixes.get(f"/registry/{parts[2]}/{parts[3]}/")
            if found is None and "." in parts[2]:
                found = parts[2], parts[3]
        return found
