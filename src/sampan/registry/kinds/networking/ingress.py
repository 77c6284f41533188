"""Ingresses. Source: pkg/registry/networking/ingress, pkg/apis/networking/validation (1.36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sampan.core.field import Path, Shown, invalid, required
from sampan.core.validation.names import (
    dns1035_label_errors,
    dns1123_label_errors,
    dns1123_subdomain_errors,
    path_segment_errors,
    wildcard_dns1123_subdomain_errors,
)
from sampan.core.validation.values import port_name_errors, port_number_errors
from sampan.kinds import networking_v1
from sampan.registry.columns.cells import EMPTY, NAME, NONE, at, column, load_balancer_text
from sampan.registry.kind import Kind
from sampan.registry.old_versions.ingress import ingress
from sampan.registry.rules import feature_gates as gates
from sampan.registry.rules.fields import Errors, check_subdomain, not_supported
from sampan.registry.rules.ip_addresses import check_ip, ip_warnings, parse_ip
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_NO_RULES = Shown("null")
"""Value that the error for missing rules shows, even if the field has another value."""
_LOAD_BALANCER = Path("status", "loadBalancer", "ingress")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES = ("/..", "/.")
_NOT_IP = "must be a DNS name, not an IP address"


def check_typed_reference(reference: Mapping[str, Any], path: Path, errors: Errors) -> None:
    """Check a reference to an object of any kind in the same namespace."""
    if reference.get("apiGroup") is not None:
        check_subdomain(reference["apiGroup"], path.child("apiGroup"), errors)
    for name in ("kind", "name"):
        value = reference.get(name, "")
        if not value:
            errors.append(required(path.child(name)))
        errors.extend(invalid(path.child(name), value, text) for text in path_segment_errors(value))


def _check_service(service: networking_v1.IngressServiceBackend, path: Path, errors: Errors, *, relaxed: bool) -> None:
    """Check the service of a backend. `path` is the path of the backend."""
    name, port = service.get("name", ""), service.get("port", {})
    if not name:
        errors.append(required(path.child("service", "name")))
    else:
        texts = dns1123_label_errors(name) if relaxed else dns1035_label_errors(name)
        errors.extend(invalid(path.child("service", "name"), name, text) for text in texts)
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port_name:
        at = path.child("service", "port", "name")
        errors.extend(invalid(at, port_name, text) for text in port_name_errors(port_name))
    elif number:
        at = path.child("service", "port", "number")
        errors.extend(invalid(at, number, text) for text in port_number_errors(number))
    else:
        errors.append(required(path, "port name or number is required"))


def _check_backend(backend: networking_v1.IngressBackend, path: Path, errors: Errors, *, relaxed: bool) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        errors.append(invalid(path, "", "cannot set both resource and service backends"))
    elif resource is not None:
        check_typed_reference(resource, path.child("resource"), errors)
    elif service is not None:
        _check_service(service, path, errors, relaxed=relaxed)
    else:
        errors.append(invalid(path, "", "resource or service backend is required"))


def _check_path(entry: networking_v1.HTTPIngressPath, path: Path, errors: Errors, *, relaxed: bool) -> None:
    kind, text = entry.get("pathType"), entry.get("path", "")
    if kind is None:
        errors.append(required(path.child("pathType"), "pathType must be specified"))
        return
    at = path.child("path")
    if kind not in _PATH_TYPES:
        errors.append(not_supported(path.child("pathType"), kind, _PATH_TYPES))
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        errors.append(invalid(at, text, "must be an absolute path"))
    if kind in ("Exact", "Prefix"):
        for bad in _BAD_SEQUENCES:
            if bad in text:
                errors.append(invalid(at, text, f"must not contain '{bad}'"))
        for bad in _BAD_SUFFIXES:
            if text.endswith(bad):
                errors.append(invalid(at, text, f"cannot end with '{bad}'"))
    _check_backend(entry.get("backend", {}), path.child("backend"), errors, relaxed=relaxed)


def _check_http(rule: networking_v1.IngressRule, path: Path, errors: Errors, *, relaxed: bool) -> None:
    http = rule.get("http")
    if http is None:
        return
    paths, at = http.get("paths"), path.child("http", "paths")
    if not paths:
        errors.append(required(at))
    for index, entry in enumerate(paths or ()):
        _check_path(entry, at.index(index), errors, relaxed=relaxed)


def _host_errors(host: str) -> list[str]:
    return wildcard_dns1123_subdomain_errors(host) if "*" in host else dns1123_subdomain_errors(host)


def _has_invalid_wildcard_rule(old: networking_v1.IngressSpec) -> bool:
    for rule in old.get("rules", ()):
        faults: Errors = []
        if "*" in rule.get("host", ""):
            _check_http(rule, Path(), faults, relaxed=False)
        if faults:
            return True
    return False


def _check_rules(
    spec: networking_v1.IngressSpec, old: networking_v1.IngressSpec | None, errors: Errors, *, relaxed: bool
) -> None:
    lenient = old is not None and _has_invalid_wildcard_rule(old)
    for index, rule in enumerate(spec.get("rules", ())):
        path, host = _SPEC.child("rules").index(index), rule.get("host", "")
        if host:
            if parse_ip(host) is not None:
                errors.append(invalid(path.child("host"), host, _NOT_IP))
            errors.extend(invalid(path.child("host"), host, text) for text in _host_errors(host))
        if "*" not in host or not lenient:
            _check_http(rule, path, errors, relaxed=relaxed)


def _secret_errors(tls: networking_v1.IngressTLS) -> list[str]:
    name = tls.get("secretName", "")
    return dns1123_subdomain_errors(name) if name else []


def _check_tls(spec: networking_v1.IngressSpec, old: networking_v1.IngressSpec | None, errors: Errors) -> None:
    lenient = old is not None and any(map(_secret_errors, old.get("tls", ())))
    for index, tls in enumerate(spec.get("tls", ())):
        path = _SPEC.child("tls").index(index)
        for position, host in enumerate(tls.get("hosts") or ()):
            at = path.child("hosts").index(position)
            errors.extend(invalid(at, host, text) for text in _host_errors(host))
        if not lenient:
            at = path.child("secretName")
            errors.extend(invalid(at, tls.get("secretName", ""), text) for text in _secret_errors(tls))


def _service_names(spec: networking_v1.IngressSpec) -> Iterator[str]:
    backends = [spec.get("defaultBackend", {})]
    for rule in spec.get("rules", ()):
        backends += [path.get("backend", {}) for path in rule.get("http", {}).get("paths", ())]
    for backend in backends:
        if "service" in backend:
            yield backend["service"].get("name", "")


def _is_relaxed(old: networking_v1.IngressSpec | None) -> bool:
    """Return True if service names may begin with a digit."""
    if gates.RELAXED_SERVICE_NAME_VALIDATION:
        return True
    return old is not None and any(
        dns1035_label_errors(name) and not dns1123_label_errors(name) for name in _service_names(old)
    )


def _check_spec(spec: networking_v1.IngressSpec, old: networking_v1.IngressSpec | None, errors: Errors) -> None:
    relaxed = _is_relaxed(old)
    rules, backend = spec.get("rules"), spec.get("defaultBackend")
    if not rules and backend is None:
        errors.append(invalid(_SPEC, _NO_RULES, "either `defaultBackend` or `rules` must be specified"))
    if backend is not None:
        _check_backend(backend, _SPEC.child("defaultBackend"), errors, relaxed=relaxed)
    _check_rules(spec, old, errors, relaxed=relaxed)
    _check_tls(spec, old, errors)
    class_name = spec.get("ingressClassName")
    if class_name is not None:
        check_subdomain(class_name, _SPEC.child("ingressClassName"), errors)


def _addresses(obj: networking_v1.Ingress) -> list[networking_v1.IngressLoadBalancerIngress]:
    return obj.get("status", {}).get("loadBalancer", {}).get("ingress") or []


def _backends(spec: networking_v1.IngressSpec) -> Iterator[networking_v1.IngressBackend]:
    if spec.get("defaultBackend"):
        yield spec["defaultBackend"]
    for rule in spec.get("rules") or ():
        http = rule.get("http")
        for entry in (http.get("paths") if http else None) or ():
            yield entry.get("backend") or {}


class IngressStrategy(Strategy):
    """Rules and warnings of ingresses."""

    def default(self, obj: networking_v1.Ingress) -> None:
        """Set defaults: the API group of a backend that is not a Service is always present."""
        for backend in _backends(obj.get("spec") or {}):
            if backend.get("resource"):
                reference: Any = backend["resource"]
                reference.setdefault("apiGroup", None)

    def check_update(
        self, ctx: Context, obj: networking_v1.Ingress, old: networking_v1.Ingress, errors: Errors
    ) -> None:
        """Check an update. Some faults of the stored object are tolerated."""
        _check_spec(obj.get("spec", {}), old.get("spec", {}), errors)

    def check(self, ctx: Context, obj: networking_v1.Ingress, errors: Errors) -> None:
        """Check a new ingress, and the annotation that sets its class."""
        _check_spec(obj.get("spec", {}), None, errors)
        annotation = obj["metadata"].get("annotations", {}).get(_CLASS_ANNOTATION)
        if annotation is not None and obj.get("spec", {}).get("ingressClassName", annotation) != annotation:
            path = Path("annotations").child(_CLASS_ANNOTATION)
            errors.append(invalid(path, annotation, "must match `ingressClassName` when both are specified"))

    def warnings_on_create(self, ctx: Context, obj: networking_v1.Ingress) -> list[str]:
        """Warn about the annotation that `ingressClassName` replaced."""
        annotations = obj["metadata"].get("annotations", {})
        if _CLASS_ANNOTATION in annotations and "ingressClassName" not in obj.get("spec", {}):
            return [f"annotation \"{_CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"]
        return []

    def warnings_on_update(self, ctx: Context, obj: networking_v1.Ingress, old: networking_v1.Ingress) -> list[str]:
        """Warn about addresses of the load balancer if the status changed."""
        if ctx.subresource != "status":
            return []
        return [
            text
            for index, address in enumerate(_addresses(obj))
            if address.get("ip")
            for text in ip_warnings(_LOAD_BALANCER.index(index), address["ip"])
        ]

    def check_status_update(
        self, ctx: Context, obj: networking_v1.Ingress, old: networking_v1.Ingress, errors: Errors
    ) -> None:
        """Check addresses and host names of the load balancer."""
        stored = [address["ip"] for address in _addresses(old) if address.get("ip")]
        for index, address in enumerate(_addresses(obj)):
            path, host = _LOAD_BALANCER.index(index), address.get("hostname")
            if address.get("ip"):
                check_ip(address["ip"], path.child("ip"), errors, stored)
            if host:
                check_subdomain(host, path.child("hostname"), errors)
                if parse_ip(host) is not None:
                    errors.append(invalid(path.child("hostname"), host, _NOT_IP))


def _hosts(ingress: networking_v1.Ingress) -> str:
    rules = ingress.get("spec", EMPTY).get("rules", ())
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == 3:
            return f"{','.join(hosts)} + {len(rules) - 3} more..."
        if rule.get("host"):
            hosts.append(rule["host"])
    return ",".join(hosts) or "*"


KINDS: Final = (
    Kind(
        "networking.k8s.io",
        "ingresses",
        IngressStrategy(),
        old_versions={"extensions/v1beta1": ingress, "networking.k8s.io/v1beta1": ingress},
        columns=lambda ages: (
            NAME,
            column("Class", at("spec", "ingressClassName", default=NONE)),
            column("Hosts", _hosts),
            column("Address", load_balancer_text),
            column("Ports", lambda obj: "80, 443" if obj.get("spec", EMPTY).get("tls") else "80"),
            ages.column,
        ),
        storage_prefix="ingress",
    ),
)
