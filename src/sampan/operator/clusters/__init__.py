"""Several clusters in one operator: a manager for each, and reconcilers that work in all of them."""

from sampan.operator.clusters.builder import ClusterRequest, ClustersBuilder
from sampan.operator.clusters.clusters import Clusters, ClusterStatus, Member, UnknownCluster
from sampan.operator.clusters.profiles import ClusterProfiles
from sampan.operator.clusters.providers import ClusterProvider, KubeconfigContexts, ListedClusters

__all__ = [
    "ClusterProfiles",
    "ClusterProvider",
    "ClusterRequest",
    "ClusterStatus",
    "Clusters",
    "ClustersBuilder",
    "KubeconfigContexts",
    "ListedClusters",
    "Member",
    "UnknownCluster",
]
