"""Names of types: groups, versions, kinds and resources, as the field spells them."""

from typing import NamedTuple


def package_of(group: str) -> str:
    """The Go package of a group, as texts and names of Kubernetes have it: `apps`, or `core` for the core group."""
    return group.partition(".")[0] or "core"


class GroupVersion(NamedTuple):
    """A group and one of its versions; the core group is the empty string."""

    group: str
    version: str

    def __str__(self) -> str:
        """The `apiVersion` form: `v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @classmethod
    def parse(cls, api_version: str) -> "GroupVersion":
        """Read an `apiVersion`. Raises `ValueError` when it has more than one slash."""
        if api_version.count("/") > 1:
            raise ValueError(f"unexpected GroupVersion string: {api_version}")
        group, _, version = api_version.rpartition("/")
        return cls(group, version)


class GroupKind(NamedTuple):
    """A kind without its version. `str()` gives `Deployment.apps`, or `Pod` for the core group."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


class GroupResource(NamedTuple):
    """A resource without its version. `str()` gives `deployments.apps`, or `pods` for the core group."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


class GroupVersionKind(NamedTuple):
    """The type of an object in one version."""

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
    """An endpoint: a resource in one version."""

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
