"""`Params`: the parameter objects of a policy, for one binding.

Source: apiserver pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams (1.36).
"""

from collections.abc import Sequence

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.core.selectors import selector_from_label_selector
from sampan.registry.cluster import Cluster
from sampan.registry.endpoint import Endpoint
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.policy.policy import ParamKind
from sampan.storage.records import Record
from sampan.wire.json import encode


class ConfigurationError(Exception):
    """The configuration of a policy or binding cannot be used for this request. The text is for the client."""


class Params:
    """Reads parameters from the watch caches, in the version that the policy names."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._endpoints: dict[ParamKind, Endpoint | None] = {}
        self._kept: dict[ParamKind, DerivedCache[Object]] = {}
        cluster.registry.subscribe(self._forget)

    def _forget(self) -> None:
        self._endpoints.clear()
        self._kept.clear()

    def check(self, kind: ParamKind | None) -> None:
        """Check that the kind is served. **Raises** `ConfigurationError`."""
        if kind is not None and self._endpoint(kind) is None:
            raise ConfigurationError(f"failed to find resource referenced by paramKind: '{kind}'")

    def collect(self, kind: ParamKind | None, reference: Object | None, namespace: str) -> Sequence[Object | None]:
        """Return the parameters, each for one evaluation; a single None if the policy has none.

        The objects are shared: read only. **Raises** `ConfigurationError`.
        """
        if kind is None or reference is None:
            return (None,)
        endpoint = self._endpoint(kind)
        if endpoint is None:
            raise ConfigurationError(f"paramKind kind `{kind}` not known")
        namespace = self._namespace(endpoint, reference, namespace)
        try:
            found = self._find(kind, endpoint, reference, namespace)
        except StatusError as error:
            raise ConfigurationError(error.message) from None
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction")
        return found

    @staticmethod
    def _namespace(endpoint: Endpoint, reference: Object, namespace: str) -> str:
        desired: str = reference.get("namespace") or ""
        if not endpoint.definition.namespaced:
            if desired:
                raise ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
            return ""
        if not desired and not namespace:
            raise ConfigurationError(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
            )
        return desired or namespace

    def _find(self, kind: ParamKind, endpoint: Endpoint, reference: Object, namespace: str) -> list[Object]:
        kept = self._kept.get(kind)
        if kept is None:
            definition = endpoint.definition
            kept = self._kept[kind] = DerivedCache(
                self._cluster.reader,
                definition.group,
                definition.resource,
                lambda obj: endpoint.object_of(encode(obj)),
            )
        name = reference.get("name")
        if name:
            found = kept.get(name, namespace)
            return [] if found is None else [found]
        selector = selector_from_label_selector(reference.get("selector") or {})
        definition = endpoint.definition
        records: Sequence[Record] = self._cluster.reader.records(definition.group, definition.resource, namespace)
        params = [kept.of(record) for record in records]
        return [param for param in params if selector.matches(param["metadata"].get("labels") or {})]

    def _endpoint(self, kind: ParamKind) -> Endpoint | None:
        if kind not in self._endpoints:
            self._endpoints[kind] = self._find_endpoint(kind)
        return self._endpoints[kind]

    def _find_endpoint(self, kind: ParamKind) -> Endpoint | None:
        group, _, version = kind.api_version.rpartition("/")
        for definition in self._cluster.registry.definitions():
            if definition.group == group and definition.kind == kind.kind and "list" in definition.verbs:
                found = definition.versions.get(version)
                if found is not None and found.served:
                    return self._cluster.endpoint(group, version, definition.resource)
        return None
