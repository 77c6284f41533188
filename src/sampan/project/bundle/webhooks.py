"""Manifests of webhooks: configurations, the conversion of CRDs, and the certificate.

The operator issues its certificate and writes the caBundles, or cert-manager does.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final

from sampan.operator.webhook import ConversionTarget, WebhookServer
from sampan.operator.webhook.targets import ManagedConfiguration
from sampan.project.bundle.loaded import LoadedOperator
from sampan.project.bundle.settings import BundleSettings
from sampan.project.errors import ProjectError
from sampan.project.running.kinds import definitions
from sampan.resource import Object

_INJECT: Final = "cert-manager.io/inject-ca-from"
_CERT_MANAGER_API: Final = "cert-manager.io/v1"


def crds(settings: BundleSettings, operator: LoadedOperator) -> list[Object]:
    """Return the CRDs of the project's kinds, with their conversion webhooks. Raises `ProjectError`."""
    found = definitions(operator.code.kinds)
    server = operator.webhooks
    conversions = {each.name: each for each in _targets(server) if isinstance(each, ConversionTarget)}
    for crd in found:
        target = conversions.get(crd["metadata"]["name"])
        if target is not None and target.client_config is not None:
            webhook = {"clientConfig": dict(target.client_config), "conversionReviewVersions": ["v1"]}
            crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            _inject(settings, crd)
    return found


def configurations(settings: BundleSettings, operator: LoadedOperator) -> list[Object]:
    """Return the configurations of the webhooks, as the operator keeps them, with the default scope of rules.

    Without it, each `kubectl apply` would replace the rules of the server.
    """
    targets = [each for each in _targets(operator.webhooks) if isinstance(each, ManagedConfiguration)]
    found = [deepcopy(each.configuration) for each in targets]
    for rule in (rule for configuration in found for hook in configuration["webhooks"] for rule in hook["rules"]):
        rule.setdefault("scope", "*")
    return [_inject(settings, configuration) for configuration in found]


def certificate(settings: BundleSettings, operator: LoadedOperator) -> list[Object]:
    """Return the Secret into which the operator writes its certificate, or the objects for cert-manager."""
    server = operator.webhooks
    if server is None or server.disabled:
        return []
    if not settings.cert_manager:
        return [each for each in server.installed() if each["kind"] == "Secret"]
    name, place = f"{settings.name}-webhook", {"namespace": settings.namespace}
    service = server.options.service
    names = list(service.hosts) if service is not None else []
    issuer: Object = {
        "apiVersion": _CERT_MANAGER_API,
        "kind": "Issuer",
        "metadata": {"name": name, **place},
        "spec": {"selfSigned": {}},
    }
    spec: dict[str, Any] = {"dnsNames": names, "issuerRef": {"kind": "Issuer", "name": name}, "secretName": name}
    requested: Object = {
        "apiVersion": _CERT_MANAGER_API,
        "kind": "Certificate",
        "metadata": {"name": name, **place},
        "spec": spec,
    }
    return [issuer, requested]


def check_service(settings: BundleSettings, operator: LoadedOperator) -> None:
    """Raise `ProjectError` if the code of the webhooks names another Service or no fixed port."""
    server = operator.webhooks
    if server is None or server.disabled:
        return
    service, name = server.options.service, f"{settings.name}-webhook"
    if service is None or (service.namespace, service.name, service.port) != (settings.namespace, name, 443):
        raise ProjectError(
            f"WebhookOptions name another Service than {settings.namespace}/{name}: leave out service; "
            "the Deployment sets it"
        )
    if not server.options.port:
        raise ProjectError("WebhookOptions(port=0) takes any port, but a Service needs a fixed one: leave out port")


def _targets(server: WebhookServer | None) -> Sequence[Any]:
    return [] if server is None or server.disabled else server.targets()


def _inject(settings: BundleSettings, obj: Object) -> Object:
    if settings.cert_manager:
        annotations = obj["metadata"].setdefault("annotations", {})
        annotations[_INJECT] = f"{settings.namespace}/{settings.name}-webhook"
    return obj
