"""Services, with the endpoints of their EndpointSlices."""

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Final

from sampan.cli.objects.describers.describer import DescribedObject, Describer, DescriptionRow, RelatedObjects, at, rows
from sampan.cli.objects.describers.values import ANNOTATIONS, LABELS, NAME, NAMESPACE, comma_labels
from sampan.client import ListOptions
from sampan.resource import Object

_ENDPOINTS_MAX: Final = 3


def _ingress(points: Sequence[Object]) -> str | None:
    texts = []
    for point in points:
        mode = f" ({point['ipMode']})" if point.get("ipMode") else ""
        texts.append(f"{point['ip']}{mode}" if point.get("ip") else point.get("hostname", ""))
    return ", ".join(texts)


def _ports(subject: DescribedObject) -> Iterator[str]:
    for port in at(subject.obj, "spec.ports") or ():
        name, protocol = port.get("name") or "<unset>", port.get("protocol", "TCP")
        yield f"Port:\t{name}\t{port['port']}/{protocol}"
        yield f"TargetPort:\t{port.get('targetPort', port['port'])}/{protocol}"
        if port.get("appProtocol"):
            yield f"AppProtocol:\t{port['appProtocol']}"
        if port.get("nodePort"):
            yield f"NodePort:\t{name}\t{port['nodePort']}/{protocol}"
        yield f"Endpoints:\t{_endpoints(subject.related.get('slices'), port.get('name') or '')}"


def _endpoints(slices: Sequence[Object] | None, port_name: str) -> str:
    """Return the ready addresses of a port, the first three of them."""
    if not slices:
        return "<none>"
    found = []
    for each in slices:
        ready = [endpoint for endpoint in each.get("endpoints") or () if at(endpoint, "conditions.ready") is not False]
        addresses = [endpoint["addresses"][0] for endpoint in ready]
        ports = each.get("ports")
        if not ports:
            found += addresses
        for port in ports or ():
            if (port.get("name") or "") == port_name:
                found += [_joined(address, port.get("port")) for address in addresses]
    text = ",".join(found[:_ENDPOINTS_MAX])
    return text if len(found) <= _ENDPOINTS_MAX else f"{text} + {len(found) - _ENDPOINTS_MAX} more..."


def _joined(address: str, port: int | None) -> str:
    try:
        host = f"[{address}]" if ipaddress.ip_address(address).version == 6 else address
    except ValueError:
        host = address
    return f"{host}:{port}"


def _slices(obj: Object) -> RelatedObjects:
    metadata = obj["metadata"]
    chosen = f"kubernetes.io/service-name={metadata['name']}"
    return RelatedObjects(
        "endpointslices.v1.discovery.k8s.io", metadata["namespace"], ListOptions(label_selector=chosen)
    )


SERVICE: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            LABELS,
            ANNOTATIONS,
            DescriptionRow("Selector", lambda obj: comma_labels(at(obj, "spec.selector"))),
            DescriptionRow("Type", "spec.type", default=""),
            DescriptionRow("IP Family Policy", "spec.ipFamilyPolicy"),
            DescriptionRow("IP Families", "spec.ipFamilies", ",".join, default="<none>"),
            DescriptionRow("IP", "spec.clusterIP", default=""),
            DescriptionRow("IPs", "spec.clusterIPs", ",".join, default="<none>"),
            DescriptionRow("External IPs", "spec.externalIPs", ",".join),
            DescriptionRow("Desired LoadBalancer IP", "spec.loadBalancerIP"),
            DescriptionRow("External Name", "spec.externalName"),
            DescriptionRow("LoadBalancer Ingress", "status.loadBalancer.ingress", _ingress),
        ),
        _ports,
        rows(
            DescriptionRow("Session Affinity", "spec.sessionAffinity", default=""),
            DescriptionRow("External Traffic Policy", "spec.externalTrafficPolicy"),
            DescriptionRow("Internal Traffic Policy", "spec.internalTrafficPolicy"),
            DescriptionRow("HealthCheck NodePort", "spec.healthCheckNodePort"),
            DescriptionRow("LoadBalancer Source Ranges", "spec.loadBalancerSourceRanges", ",".join),
            DescriptionRow("Traffic Distribution", "spec.trafficDistribution"),
        ),
    ),
    {"slices": _slices},
)
