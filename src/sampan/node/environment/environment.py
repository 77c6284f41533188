"""`environment_of`: computes the environment variables of a container.

Source: pkg/kubelet/kubelet_pods.go `makeEnvironmentVariables` (1.36).
"""

from collections.abc import Mapping

from sampan.core.pods.expansion import expand, from_mappings
from sampan.node.environment.fields import PodPlace, field_value, resource_value
from sampan.node.references import Missing, References
from sampan.node.views.container import Container, EnvFrom, EnvVarSource, KeyRef


async def environment_of(
    place: PodPlace, container: Container, services: Mapping[str, str], references: References
) -> dict[str, str]:
    """Return the variables by name. A later source overrides an earlier one: Services, `envFrom`, `env`.

    Raises `Missing`, `Unreadable`, and `ValueError`.
    """
    reading = _Reading(place, container, references)
    variables: dict[str, str] = {"HOSTNAME": host_name(place)}
    for source in container.env_from:
        variables.update(await reading.all_of(source))
    value_of = from_mappings(variables, services)
    for each in container.env:
        if each.value or each.value_from is None:
            variables[each.name] = expand(each.value, value_of)
            continue
        value = await reading.value(each.value_from)
        if value is not None:
            variables[each.name] = value
    return {**variables, **{name: value for name, value in services.items() if name not in variables}}


def host_name(place: PodPlace) -> str:
    """Return the host name of a Pod: the node's with hostNetwork, else `spec.hostname` or the Pod's name.

    It has at most 63 characters.
    """
    if place.pod.spec.host_network:
        return place.pod.spec.node_name
    name = place.pod.spec.hostname or place.pod.metadata.name
    return name if len(name) <= 63 else name[:63].rstrip("-.")


class _Reading:
    """Reads each ConfigMap and Secret once for a container."""

    def __init__(self, place: PodPlace, container: Container, references: References) -> None:
        self._place = place
        self._container = container
        self._references = references
        self._config_maps: dict[str, Mapping[str, str]] = {}
        self._secrets: dict[str, Mapping[str, str]] = {}

    async def all_of(self, source: EnvFrom) -> dict[str, str]:
        """Return all keys of an object as variables; none if it is optional and does not exist."""
        ref = source.config_map_ref or source.secret_ref
        if ref is None:
            return {}
        try:
            if source.config_map_ref is not None:
                found = await self._config_map(ref.name)
            else:
                found = await self._secret(ref.name)
        except Missing:
            if ref.optional:
                return {}
            raise
        return {source.prefix + name: value for name, value in found.items()}

    async def value(self, source: EnvVarSource) -> str | None:
        """Return the value from a source; None if it is optional and does not exist."""
        if source.field_ref is not None:
            return field_value(self._place, source.field_ref.field_path)
        if source.resource_field_ref is not None:
            return resource_value(self._place, source.resource_field_ref, self._container.name)
        if source.config_map_key_ref is not None:
            return await self._key(source.config_map_key_ref, "ConfigMap")
        if source.secret_key_ref is not None:
            return await self._key(source.secret_key_ref, "Secret")
        return ""

    async def _key(self, ref: KeyRef, kind: str) -> str | None:
        try:
            found = await (self._config_map(ref.name) if kind == "ConfigMap" else self._secret(ref.name))
        except Missing:
            if ref.optional:
                return None
            raise
        value = found.get(ref.key)
        if value is None and not ref.optional:
            namespace = self._place.pod.metadata.namespace
            raise Missing(f"couldn't find key {ref.key} in {kind} {namespace}/{ref.name}")
        return value

    async def _config_map(self, name: str) -> Mapping[str, str]:
        if name not in self._config_maps:
            found = await self._references.config_map(self._place.pod.metadata.namespace, name)
            self._config_maps[name] = found.data
        return self._config_maps[name]

    async def _secret(self, name: str) -> Mapping[str, str]:
        if name not in self._secrets:
            found = await self._references.secret(self._place.pod.metadata.namespace, name)
            # An environment has bytes. Those that are not UTF-8 survive as surrogates.
            self._secrets[name] = {key: value.decode(errors="surrogateescape") for key, value in found.data.items()}
        return self._secrets[name]
