"""Service variables: `NAME_SERVICE_HOST`, `NAME_SERVICE_PORT`, and those of Docker links.

Source: pkg/kubelet/envvars/envvars.go, pkg/kubelet/kubelet_pods.go `getServiceEnvVarMap` (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from sampan.component_base.resources import SERVICES
from sampan.resource import ObjectMeta, ObjectType
from sampan.resource.view import view_decoder

_API_SERVER: Final = ("default", "kubernetes")


class ServicePort(msgspec.Struct, rename="camel", gc=False):
    """Port that becomes the variables `…_SERVICE_PORT` and `…_PORT_<port>_<protocol>` of containers."""

    name: str = ""
    protocol: str = "TCP"
    port: int = 0


class ServiceSpec(msgspec.Struct, rename="camel", gc=False):
    """Addresses and ports of a Service."""

    cluster_ip: str = msgspec.field(name="clusterIP", default="")
    ports: list[ServicePort] = []


class Service(msgspec.Struct, gc=False):
    """Service, as far as the variables need it."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ServiceSpec = msgspec.field(default_factory=ServiceSpec)


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


SERVICE_VIEW: ObjectType[Service] = ObjectType(SERVICES, view_decoder(Service), _read_only)


def at(services: Iterable[Service], url: str) -> list[Service]:
    """Return the Services with the address of the API server replaced by that of `url`; unchanged without a URL.

    Processes on the machine's network cannot reach the Services' addresses.
    """
    where = urlsplit(url)
    if not where.hostname:
        return list(services)
    port = ServicePort(name="https", port=where.port or 443)
    spec = ServiceSpec(cluster_ip=where.hostname, ports=[port])
    return [
        Service(each.metadata, spec) if (each.metadata.namespace, each.metadata.name) == _API_SERVER else each
        for each in services
    ]


def service_environment(services: Iterable[Service], namespace: str, *, links: bool) -> dict[str, str]:
    """Return the variables for Pods of a namespace: of `kubernetes`, and with `links` of the namespace's Services."""
    chosen: dict[str, Service] = {}
    for service in sorted(services, key=lambda each: (each.metadata.namespace, each.metadata.name)):
        name = service.metadata.name
        if service.spec.cluster_ip in ("", "None") or not service.spec.ports:
            continue
        if (service.metadata.namespace, name) == _API_SERVER:
            chosen.setdefault(name, service)
        elif links and service.metadata.namespace == namespace:
            chosen[name] = service
    variables: dict[str, str] = {}
    for name in sorted(chosen):
        variables.update(_of_service(chosen[name]))
    return variables


def _of_service(service: Service) -> dict[str, str]:
    prefix, address, ports = _upper(service.metadata.name), service.spec.cluster_ip, service.spec.ports
    variables = {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(ports[0].port)}
    for port in ports:
        if port.name:
            variables[f"{prefix}_SERVICE_PORT_{_upper(port.name)}"] = str(port.port)
    shown = f"[{address}]" if ":" in address else address
    for number, port in enumerate(ports):
        protocol = port.protocol.lower()
        url = f"{protocol}://{shown}:{port.port}"
        if number == 0:
            variables[f"{prefix}_PORT"] = url
        name = f"{prefix}_PORT_{port.port}_{port.protocol.upper()}"
        variables[name] = url
        variables[f"{name}_PROTO"] = protocol
        variables[f"{name}_PORT"] = str(port.port)
        variables[f"{name}_ADDR"] = address
    return variables


def _upper(name: str) -> str:
    return name.replace("-", "_").upper()
