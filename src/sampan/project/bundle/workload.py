"""Objects that run the operator: its Deployment and Services, and those that protect it."""

from typing import Any, Final

from sampan.project.bundle.loaded import WEBHOOK_CERTIFICATES, LoadedOperator
from sampan.project.bundle.settings import BundleSettings
from sampan.resource import Object

APP_LABEL: Final = "app.kubernetes.io/name"
INSTANCE_LABEL: Final = "app.kubernetes.io/instance"
METRICS_PORT: Final = 8443
_WEBHOOK_PORT: Final = 443
_GRACE_S: Final = 10
"""Time after the end of running reconciles, for the release of the lease and the end of the process."""


def selector(settings: BundleSettings) -> dict[str, str]:
    """Return the labels of the operator's Pods that Services and others select.

    A chart sets the instance to its release, so that several fit into one namespace.
    """
    return {APP_LABEL: settings.name, INSTANCE_LABEL: settings.name}


def deployment(settings: BundleSettings, operator: LoadedOperator) -> Object:
    """Return the Deployment that runs the operator's process, spread over nodes, and not as root."""
    process = operator.process
    pod: dict[str, Any] = {
        "serviceAccountName": settings.name,
        "terminationGracePeriodSeconds": int(process.graceful_shutdown_timeout_s) + _GRACE_S,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": selector(settings)},
            }
        ],
        "containers": [_container(settings, operator)],
    }
    if settings.priority_class:
        pod["priorityClassName"] = settings.priority_class
    if _mounts_certificates(settings, operator):
        secret = {"secretName": f"{settings.name}-webhook"}
        pod["volumes"] = [{"name": "certificates", "secret": secret}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": settings.name, "namespace": settings.namespace},
        "spec": {
            "replicas": settings.replicas,
            "selector": {"matchLabels": selector(settings)},
            "template": {
                "metadata": {
                    "labels": selector(settings),
                    "annotations": {"kubectl.kubernetes.io/default-container": "operator"},
                },
                "spec": pod,
            },
        },
    }


def _container(settings: BundleSettings, operator: LoadedOperator) -> Object:
    container: dict[str, Any] = {
        "name": "operator",
        "image": settings.image,
        "command": ["python3", "-m", settings.project.package],
        "args": list(operator.arguments),
        "ports": [{"name": name, "containerPort": port} for name, port in ports(operator).items()],
        "resources": settings.resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    if settings.environment:
        container["env"] = [{"name": key, "value": value} for key, value in sorted(settings.environment.items())]
    if "health" in ports(operator):
        container["livenessProbe"] = _probe("/healthz", 20)
        container["readinessProbe"] = _probe("/readyz", 10)
    if _mounts_certificates(settings, operator):
        container["volumeMounts"] = [{"name": "certificates", "mountPath": WEBHOOK_CERTIFICATES, "readOnly": True}]
    return container


def _probe(path: str, period_s: int) -> Object:
    return {"httpGet": {"path": path, "port": "health"}, "periodSeconds": period_s}


def _mounts_certificates(settings: BundleSettings, operator: LoadedOperator) -> bool:
    return settings.cert_manager and operator.webhooks is not None


def ports(operator: LoadedOperator) -> dict[str, int]:
    """Return the ports of the container by their names: health, metrics, webhook."""
    addresses = {"health": operator.process.health_probe_bind_address, "metrics": operator.process.metrics_bind_address}
    found = {name: int(address.rpartition(":")[2]) for name, address in addresses.items() if address}
    if operator.webhooks is not None:
        found["webhook"] = operator.webhooks.options.port
    return found


def services(settings: BundleSettings, operator: LoadedOperator) -> list[Object]:
    """Return the Services of the metrics and of the webhooks."""
    found = []
    for name, port in (("metrics", METRICS_PORT), ("webhook", _WEBHOOK_PORT)):
        if name in ports(operator):
            found.append(
                {
                    "apiVersion": "v1",
                    "kind": "Service",
                    "metadata": {"name": f"{settings.name}-{name}", "namespace": settings.namespace},
                    "spec": {
                        "selector": selector(settings),
                        "ports": [{"name": name, "port": port, "protocol": "TCP", "targetPort": name}],
                    },
                }
            )
    return found


def disruption_budget(settings: BundleSettings) -> Object | None:
    """Return the PodDisruptionBudget, for several replicas."""
    if settings.replicas == 1:
        return None
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": settings.name, "namespace": settings.namespace},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(settings)}},
    }


def network_policy(settings: BundleSettings, operator: LoadedOperator) -> Object:
    """Return the NetworkPolicy: only webhooks and metrics can be reached.

    Their clients are authenticated, and the address of API servers is unknown. So any address may connect. Probes come
    from the node, which no policy limits. The operator itself may connect to anything: its API server, and what it
    manages.
    """
    open_ports = [{"protocol": "TCP", "port": name} for name in ports(operator) if name != "health"]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": settings.name, "namespace": settings.namespace},
        "spec": {
            "podSelector": {"matchLabels": selector(settings)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": open_ports}] if open_ports else [],
        },
    }


def service_monitor(settings: BundleSettings) -> Object:
    """Return the ServiceMonitor of Prometheus' operator. The metrics' certificate is self-signed."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": settings.name, "namespace": settings.namespace},
        "spec": {
            "selector": {"matchLabels": selector(settings)},
            "endpoints": [
                {
                    "port": "metrics",
                    "path": "/metrics",
                    "scheme": "https",
                    "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                    "tlsConfig": {"insecureSkipVerify": True},
                }
            ],
        },
    }
