"""Names of types: groups, versions, kinds and resources."""

from typing import NamedTuple


def package_of(group: str) -> str:
    """Return the Go package of a group, as used in messages of Kubernetes: `apps`, or `core` for the core group."""
    return group.partition(".")[0] or "core"


def canonical(api_version: str) -> str:
    """Return an `apiVersion` as Kubernetes writes it: `/v1` is `v1`, as both name the core group."""
    return api_version[1:] if api_version[:1] == "/" and api_version.count("/") == 1 else api_version


class GroupVersion(NamedTuple):
    """Group and one of its versions; the core group is the empty string."""

    group: str
    version: str

    def __str__(self) -> str:
        """Return the `apiVersion` form: `v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @classmethod
    def parse(cls, api_version: str) -> "GroupVersion":
        """Parse an `apiVersion`. Raises `ValueError` when it has more than one slash."""
        if api_version.count("/") > 1:
            raise ValueError(f"unexpected GroupVersion string: {api_version}")
        group, _, version = api_version.rpartition("/")
        return cls(group, version)


class GroupKind(NamedTuple):
    """Kind without its version. `str()` returns `Deployment.apps`, or `Pod` for the core group."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class GroupResource(NamedTuple):
    """Resource without its version. `str()` returns `deployments.apps`, or `pods` for the core group."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class GroupVersionKind(NamedTuple):
    """Type of an object in one version."""

    group: str
    version: str
    kind: str

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


class GroupVersionResource(NamedTuple):
    """Identity of an endpoint of the API: the core group is "", and `resource` is the lower-case plural ("pods")."""

    group: str
    version: str
    resource: str

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.resource)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Resource={self.resource}"
