"""`Cluster.drop_extra_apis`: APIs that Kubernetes does not serve."""

from sampan.registry.cluster import Cluster
from sampan.storage.memory import MemoryStore

EXTRA = {("apiextensions.k8s.io", "v1beta1"), ("batch", "v1beta1"), ("batch", "v2alpha1")}


def versions(cluster: Cluster) -> set[tuple[str, str]]:
    """Return the groups and versions that are served."""
    found = cluster.registry.definitions()
    return {(definition.group, version) for definition in found for version in definition.versions}


def test_versions_that_kubernetes_has_removed_are_not_served_then() -> None:
    cluster, whole = Cluster(MemoryStore()), Cluster(MemoryStore())
    cluster.drop_extra_apis()
    assert versions(whole) - versions(cluster) == EXTRA
    assert versions(whole) == versions(Cluster(MemoryStore()))
