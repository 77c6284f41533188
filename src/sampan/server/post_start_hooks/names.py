"""Names of kube-apiserver's post-start hooks, which are health checks that monitoring tools query.

They pass when the server has started completely, and have the order of kube-apiserver.

Source: `/readyz?verbose` of 1.36; apiserver pkg/server/hooks.go.
"""

BEFORE_AUTOREGISTER = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "aggregator-reload-proxy-client-cert",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
)
"""Hooks listed before the check `autoregister-completion`."""
AFTER_AUTOREGISTER = ("apiservice-openapi-controller", "apiservice-openapiv3-controller")


def check_names(hooks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the hooks' health checks."""
    return tuple(f"poststarthook/{hook}" for hook in hooks)
