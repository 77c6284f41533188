"""Pod specs and pod templates, which all workloads share. Workloads of other API groups use `templates.py` instead of
this module.

Source: pkg/apis/core/validation/validation.go ValidatePodSpec, ValidatePodTemplateSpec (1.36).
"""

from __future__ import annotations

from collections.abc import Collection

from sampan.core.field import FieldError, Path, duplicate, forbidden, invalid, not_found, required, too_long
from sampan.core.validation.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    dns1123_subdomain_with_underscore_errors,
)
from sampan.kinds import core_v1, meta_v1
from sampan.registry.kinds.pod_spec.annotations import (
    check_profiles_match_annotations,
    validate_pod_annotations,
)
from sampan.registry.kinds.pod_spec.containers import (
    PodScope,
    validate_containers,
    validate_ephemeral_containers,
    validate_init_containers,
)
from sampan.registry.kinds.pod_spec.defaults import default_pod_spec, default_pod_template
from sampan.registry.kinds.pod_spec.options import (
    STRICT_TEMPLATE,
    PodOptions,
    containers_with_path,
    is_windows,
    options_for,
)
from sampan.registry.kinds.pod_spec.resources import (
    aggregate_container_resources,
    is_hugepages,
    validate_requirements,
)
from sampan.registry.kinds.pod_spec.scheduling import validate_affinity, validate_spread, validate_tolerations
from sampan.registry.kinds.pod_spec.security import (
    uses_windows_options,
    validate_host_process,
    validate_os,
    validate_pod_security_context,
)
from sampan.registry.kinds.pod_spec.volumes import validate_volumes
from sampan.registry.kinds.pod_spec.warnings import pod_warnings, template_warnings
from sampan.registry.rules.fields import (
    NOWHERE,
    check_annotations,
    check_label,
    check_labels,
    check_qualified_name,
    check_subdomain,
    not_supported,
)
from sampan.registry.rules.ip_addresses import check_ip
from sampan.registry.rules.quantities import amount

__all__ = [
    "PodOptions",
    "default_pod_spec",
    "default_pod_template",
    "pod_warnings",
    "template_options",
    "validate_pod_spec",
    "validate_pod_template_spec",
    "warnings",
]

Errors = list[FieldError]
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_TEMPLATE = Path("template")
_MIRROR = "kubernetes.io/config.mirror"
_INT32_MAX = 2**31 - 1

warnings = template_warnings
"""Warnings for a pod template: `warnings(template, path)`."""


def template_options(old_template: core_v1.PodTemplateSpec | None) -> PodOptions:
    """Return the validation options for an update of the stored template."""
    if old_template is None:
        return STRICT_TEMPLATE
    return options_for(old_template.get("spec") or {}, old_template.get("metadata"), is_pod=False)


def validate_pod_template_spec(
    template: core_v1.PodTemplateSpec, path: Path = _TEMPLATE, *, old_template: core_v1.PodTemplateSpec | None = None
) -> list[FieldError]:
    """Return the faults of a PodTemplateSpec after defaulting. `old_template` is the stored one, on updates.

    Workloads check their additional rules (restart policy, selector) themselves.
    """
    errors: Errors = []
    options = template_options(old_template)
    metadata = template.get("metadata") or {}
    spec = template.get("spec") or {}
    if metadata.get("labels"):
        check_labels(metadata["labels"], path.child("labels"), errors)
    annotations = metadata.get("annotations")
    if annotations:
        check_annotations(annotations, path.child("annotations"), errors)
        validate_pod_annotations(annotations, spec, path.child("annotations"), errors, options)
    at = path.child("spec")
    validate_pod_spec(spec, None, at, errors, options)
    if annotations:
        check_profiles_match_annotations(annotations, spec, at, errors)
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(at.child("ephemeralContainers"), text))
    return errors


def validate_pod_spec(
    spec: core_v1.PodSpec, metadata: meta_v1.ObjectMeta | None, path: Path, errors: Errors, options: PodOptions
) -> None:
    """Check a PodSpec after defaulting. `metadata` is the metadata of the pod, or None in templates."""
    if "terminationGracePeriodSeconds" not in spec:
        errors.append(required(path.child("terminationGracePeriodSeconds")))
    volumes: dict[str, core_v1.Volume] = {}
    if "volumes" in spec:
        volumes = validate_volumes(spec["volumes"], metadata, path.child("volumes"), errors, options)
    claim_names: Collection[str] = ()
    if "resourceClaims" in spec:
        claim_names = _validate_claims(spec["resourceClaims"], metadata, path.child("resourceClaims"), errors)
    scope = PodScope(spec, volumes, claim_names, options)
    validate_containers(spec.get("containers") or [], scope, path.child("containers"), errors)
    if "initContainers" in spec:
        validate_init_containers(spec["initContainers"], scope, path.child("initContainers"), errors)
    if "ephemeralContainers" in spec:
        at = path.child("ephemeralContainers")
        validate_ephemeral_containers(spec["ephemeralContainers"], scope, at, errors)
    if spec.get("resources") is not None:
        _validate_pod_resources(spec, claim_names, path, errors, options)
    if spec.get("hostNetwork"):
        _check_host_network_ports(spec, path.child("containers"), errors, options)
    restart = spec.get("restartPolicy", "")
    if restart not in _RESTART_POLICIES:
        at = path.child("restartPolicy")
        errors.append(not_supported(at, restart, _RESTART_POLICIES) if restart else required(at))
    dns = spec.get("dnsPolicy", "")
    if dns not in _DNS_POLICIES:
        at = path.child("dnsPolicy")
        errors.append(not_supported(at, dns, _DNS_POLICIES) if dns else required(at))
    if spec.get("nodeSelector"):
        check_labels(spec["nodeSelector"], path.child("nodeSelector"), errors)
    if spec.get("securityContext") or spec.get("shareProcessNamespace"):
        context = spec.get("securityContext") or {}
        validate_pod_security_context(context, spec, path.child("securityContext"), errors, options)
    _validate_placement(spec, path, errors, options)
    if uses_windows_options(spec):
        validate_host_process(spec, path, errors)
    if spec.get("hostUsers") is False:
        _validate_host_users(spec, path, errors, options)
    _validate_names(spec, path, errors)
    _validate_rest(spec, path, errors, options)
    _check_file_key_volumes(spec, path, errors)


def _validate_placement(spec: core_v1.PodSpec, path: Path, errors: Errors, options: PodOptions) -> None:
    if "imagePullSecrets" in spec:
        for i, secret in enumerate(spec["imagePullSecrets"]):
            if secret.keys() - {"name"}:
                errors.append(invalid(path.child("imagePullSecrets").index(i), secret, "only name may be set"))
    if spec.get("affinity"):
        validate_affinity(spec["affinity"], path.child("affinity"), errors, options)
    if "dnsConfig" in spec or spec.get("dnsPolicy") == "None":
        _validate_dns(spec.get("dnsConfig"), spec.get("dnsPolicy", ""), path.child("dnsConfig"), errors)
    for i, gate in enumerate(spec.get("readinessGates", ())):
        at = path.child("readinessGates").index(i).child("conditionType")
        check_qualified_name(gate.get("conditionType", ""), at, errors)
    seen: set[str] = set()
    for i, scheduling_gate in enumerate(spec.get("schedulingGates", ())):
        name, at = scheduling_gate.get("name", ""), path.child("schedulingGates").index(i)
        check_qualified_name(name, at, errors)
        if name in seen:
            errors.append(duplicate(at, name))
        seen.add(name)
    if "topologySpreadConstraints" in spec:
        at = path.child("topologySpreadConstraints")
        validate_spread(spec["topologySpreadConstraints"], at, errors, options)


def _validate_names(spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    override = spec.get("hostnameOverride")
    if override is not None:
        _validate_hostname_override(override, spec, path.child("hostnameOverride"), errors)
    for name in ("serviceAccountName", "nodeName"):
        value = spec.get(name)
        if value and (texts := dns1123_subdomain_errors(value)):
            errors.extend(invalid(path.child(name), value, text) for text in texts)


def _validate_hostname_override(name: str, spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    if spec.get("setHostnameAsFQDN"):
        errors.append(forbidden(path, "may not be specified when setHostnameAsFQDN is true"))
    if spec.get("hostNetwork"):
        errors.append(forbidden(path, "may not be specified when hostNetwork is true"))
    if len(name) > 64:
        errors.append(too_long(path, "", 64))
    check_subdomain(name, path, errors)


def _validate_rest(spec: core_v1.PodSpec, path: Path, errors: Errors, options: PodOptions) -> None:
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _INT32_MAX:
        text = f"must be between 1 and {_INT32_MAX}, inclusive"
        errors.append(invalid(path.child("activeDeadlineSeconds"), deadline, text))
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            check_label(spec[name], path.child(name), errors)
    if spec.get("tolerations"):
        validate_tolerations(spec["tolerations"], path.child("tolerations"), errors, options)
    for i, alias in enumerate(spec.get("hostAliases", ())):
        at = path.child("hostAliases").index(i)
        check_ip(alias.get("ip", ""), at.child("ip"), errors)
        for j, hostname in enumerate(alias.get("hostnames") or ()):
            check_subdomain(hostname, at.child("hostnames").index(j), errors)
    if spec.get("priorityClassName"):
        check_subdomain(spec["priorityClassName"], path.child("priorityClassName"), errors)
    if spec.get("runtimeClassName") is not None:
        check_subdomain(spec["runtimeClassName"], path.child("runtimeClassName"), errors)
    preemption = spec.get("preemptionPolicy")
    if preemption is not None and preemption not in ("PreemptLowerPriority", "Never"):
        at = path.child("preemptionPolicy")
        supported = ("PreemptLowerPriority", "Never")
        errors.append(not_supported(at, preemption, supported) if preemption else required(at))
    if spec.get("overhead"):
        allow = options.allow_indivisible_hugepages
        at = path.child("overhead")
        validate_requirements({"limits": spec["overhead"]}, (), at, errors, allow_indivisible_hugepages=allow)
    if spec.get("os") is not None:
        validate_os(spec, path, errors)
    group = spec.get("schedulingGroup")
    if group is not None:
        at, group_name = path.child("schedulingGroup", "podGroupName"), group.get("podGroupName")
        if group_name is None:
            errors.append(invalid(at, None, "must specify one of: `podGroupName`"))
        else:
            check_subdomain(group_name, at, errors)


def _validate_claims(
    claims: list[core_v1.PodResourceClaim], metadata: meta_v1.ObjectMeta | None, path: Path, errors: Errors
) -> Collection[str]:
    names: set[str] = set()
    static = _MIRROR in ((metadata or {}).get("annotations") or ())
    for i, claim in enumerate(claims):
        if static:
            errors.append(forbidden(NOWHERE, "static pods do not support resource claims"))
            continue
        at, name = path.index(i), claim.get("name", "")
        if not name:
            errors.append(required(at.child("name")))
        elif name in names:
            errors.append(duplicate(at.child("name"), name))
        else:
            check_label(name, at.child("name"), errors)
            names.add(name)
        existing, template = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
        if existing is not None and template is not None:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            errors.append(invalid(at, claim, text))
        if existing is None and template is None:
            text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            errors.append(invalid(at, claim, text))
        for field in ("resourceClaimName", "resourceClaimTemplateName"):
            if claim.get(field) is not None:
                check_subdomain(claim[field], at.child(field), errors)
    return {claim["name"] for claim in claims if claim.get("name")}


def _validate_pod_resources(
    spec: core_v1.PodSpec, claim_names: Collection[str], path: Path, errors: Errors, options: PodOptions
) -> None:
    """Check the resources of the pod as a whole, and that the resources of its containers fit into them."""
    at, resources = path.child("resources"), spec["resources"]
    if is_windows(spec):
        errors.append(forbidden(at, "may not be set for a windows pod"))
        return
    if resources.get("claims") is not None:
        errors.append(forbidden(at.child("claims"), "claims may not be set for Resources at pod-level"))
    allow = options.allow_indivisible_hugepages
    validate_requirements(resources, claim_names, at, errors, pod_level=True, allow_indivisible_hugepages=allow)
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, total in aggregate_container_resources(spec, "requests").items():
        if name in requests and total > amount(requests[name]):
            text = f"must be greater than or equal to aggregate container requests of {total}"
            errors.append(invalid(at.child("requests").key(name), requests[name], text))
    for name, total in aggregate_container_resources(spec, "limits").items():
        if is_hugepages(name) and name in limits and total > amount(limits[name]):
            text = f"must be greater than or equal to aggregate container limits of {total}"
            errors.append(invalid(at.child("limits").key(name), limits[name], text))
    for i, container in enumerate(spec.get("containers", ())):
        for name, text in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and amount(text) > amount(limits[name]):
                where = at.child("containers").index(i).key(name).child("limits")
                errors.append(invalid(where, text, f"must be less than or equal to pod limits of {limits[name]}"))


def _check_host_network_ports(spec: core_v1.PodSpec, path: Path, errors: Errors, options: PodOptions) -> None:
    for i, container in enumerate(spec.get("containers", ())):
        for j, port in enumerate(container.get("ports", ())):
            host, own = port.get("hostPort", 0), port.get("containerPort", 0)
            if (options.is_pod or host) and host != own:
                at = path.index(i).child("ports").index(j).child("hostPort")
                errors.append(invalid(at, host, "must match `containerPort` when `hostNetwork` is true"))


def _validate_dns(config: core_v1.PodDNSConfig | None, policy: str, path: Path, errors: Errors) -> None:
    if policy == "None":
        if config is None:
            errors.append(required(path, "must provide `dnsConfig` when `dnsPolicy` is None"))
            return
        if not config.get("nameservers"):
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            errors.append(required(path.child("nameservers"), text))
            return
    servers = (config or {}).get("nameservers") or []
    searches = (config or {}).get("searches") or []
    if len(servers) > 3:
        errors.append(invalid(path.child("nameservers"), servers, "must not have more than 3 nameservers"))
    for i, server in enumerate(servers):
        check_ip(server, path.child("nameservers").index(i), errors)
    if len(searches) > 32:
        errors.append(invalid(path.child("searches"), searches, "must not have more than 32 search paths"))
    if len(" ".join(searches)) > 2048:
        text = "must not have more than 2048 characters (including spaces) in the search list"
        errors.append(invalid(path.child("searches"), searches, text))
    for i, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            texts = dns1123_subdomain_with_underscore_errors(name)
            errors.extend(invalid(path.child("searches").index(i), name, text) for text in texts)
    for i, option in enumerate((config or {}).get("options") or ()):
        if not option.get("name"):
            errors.append(required(path.child("options").index(i), "must not be empty"))


def _validate_host_users(spec: core_v1.PodSpec, path: Path, errors: Errors, options: PodOptions) -> None:
    text = "when `hostUsers` is false"
    if spec.get("hostNetwork") and not options.allow_host_users_with_host_network:
        errors.append(forbidden(path.child("hostNetwork"), text))
    if spec.get("hostPID"):
        errors.append(forbidden(path.child("HostPID"), text))
    if spec.get("hostIPC"):
        errors.append(forbidden(path.child("HostIPC"), text))
    if not options.allow_host_users_with_devices:
        for container, at in containers_with_path(spec, path):
            if container.get("volumeDevices"):
                errors.append(forbidden(at.child("volumeDevices"), text))


def _check_file_key_volumes(spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for i, container in enumerate(spec.get(kind, ())):
            for j, variable in enumerate(container.get("env", ())):
                source = variable.get("valueFrom")
                if source and source.get("fileKeyRef") is not None:
                    at = path.child(kind).index(i).child("env").index(j).child("valueFrom", "fileKeyRef", "volumeName")
                    _check_file_key_volume(source["fileKeyRef"].get("volumeName", ""), spec, at, errors)


def _check_file_key_volume(name: str, spec: core_v1.PodSpec, path: Path, errors: Errors) -> None:
    for volume in reversed(spec.get("volumes", [])):
        if volume.get("name", "") == name:
            if "emptyDir" not in volume:
                errors.append(invalid(path, name, "referenced volume must be of type emptyDir"))
            return
    errors.append(not_found(path, name))


def name_rule(name: str, *, prefix: bool) -> list[str]:
    """Check that the name of a pod or template is a DNS-1123 subdomain."""
    return dns1123_subdomain_errors(name, prefix=prefix)


def hostname_warning(name: str) -> list[str]:
    """Return the warning for a pod whose name is not a DNS label."""
    texts = dns1123_label_errors(name)
    if not texts:
        return []
    return [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
        f"a DNS label is recommended: [{' '.join(texts)}]"
    ]
