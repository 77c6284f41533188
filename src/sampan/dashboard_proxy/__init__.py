"""The dashboard of any Kubernetes: `sampan dashboard` serves the page locally and passes requests to a cluster.

    connection = ClusterConnection.of(load_config())
    user = await find_user(connection)
    proxy = DashboardProxy(connection, user, ProxyPage())

Read `proxy.py` first: the path of a request. `forward.py` passes a request on, `headers.py` decides which headers do
so, and `connection.py` sends it with the credentials of the kubeconfig. Nothing here uses a registry or a store.
"""

from sampan.dashboard_proxy.cluster_user import ClusterUnusable, ClusterUser, find_user
from sampan.dashboard_proxy.connection import ClusterConnection
from sampan.dashboard_proxy.proxy import DashboardProxy, ProxyPage

__all__ = ["ClusterConnection", "ClusterUnusable", "ClusterUser", "DashboardProxy", "ProxyPage", "find_user"]
