"""Audit policy: the requests to record, and the level of detail.

Source: apiserver pkg/apis/audit/v1/types.go, pkg/audit/policy/reader.go, pkg/apis/audit/validation (1.36).
"""

import logging
from typing import Final

import msgspec

from sampan.core.field import FieldError, Path, aggregate, invalid, not_supported, required
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.wire import yaml
from sampan.wire.json import DecodeError

_log = logging.getLogger("sampan.audit")

API_VERSION: Final = "audit.k8s.io/v1"
LEVELS: Final = ("None", "Metadata", "Request", "RequestResponse")
"""Levels from nothing to everything. Each level includes the ones before it."""
STAGES: Final = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")


class _Part(msgspec.Struct, frozen=True, rename="camel"):
    """Base class for parts of the policy file. Field names are those of the file. Unknown fields are logged and
    ignored.
    """


class GroupResources(_Part, frozen=True):
    """Resources of one group: `pods`, `pods/log`, `pods/*`, `*/status` or `*`. An empty list means all resources of the
    group.
    """

    group: str = ""
    resources: list[str] = []
    resource_names: list[str] = []


class PolicyRule(_Part, frozen=True):
    """Rule of the policy. A request matches the rule if it matches every field that is set."""

    level: str = ""
    users: list[str] = []
    user_groups: list[str] = []
    verbs: list[str] = []
    resources: list[GroupResources] = []
    namespaces: list[str] = []
    non_resource_urls: list[str] = msgspec.field(default=[], name="nonResourceURLs")
    omit_stages: list[str] = []
    omit_managed_fields: bool | None = None


class AuditPolicy(_Part, frozen=True):
    """Content of the file. The first rule that matches applies. Requests without a matching rule are not recorded."""

    rules: list[PolicyRule] = []
    omit_stages: list[str] = []
    omit_managed_fields: bool = False


def parse_policy(text: bytes) -> AuditPolicy:
    """Decode YAML or JSON. Raises `ValueError` if it is not a policy, is invalid or has no rules.

    Duplicate and unknown fields are logged and ignored, as in Kubernetes.
    """
    try:
        value, faults = yaml.decode_file_strict(text)
    except DecodeError as error:
        raise ValueError(f"failed decoding: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("failed decoding: the file contains no Policy")
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if api_version != API_VERSION or kind != "Policy":
        raise ValueError(f'failed decoding: no kind "{kind}" is registered for version "{api_version}"')
    for name in sorted(value.keys() - {"apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"}):
        faults.append(f'unknown field "{name}"')
    if faults:
        _log.warning("ignored faults in the audit policy", extra={"faults": ", ".join(faults)})
    try:
        policy = msgspec.convert({name: part for name, part in value.items() if part is not None}, AuditPolicy)
    except msgspec.ValidationError as error:
        raise ValueError(f"failed decoding: {error}") from None
    found = policy_faults(policy)
    if found:
        raise ValueError(aggregate(found))
    if not policy.rules:
        raise ValueError("loaded illegal policy with 0 rules")
    return policy


def policy_faults(policy: AuditPolicy) -> list[FieldError]:
    """Return the reasons why the server cannot use a policy, with their field paths."""
    faults = _stage_faults(policy.omit_stages, Path("omitStages"))
    for index, rule in enumerate(policy.rules):
        at = Path("rules").index(index)
        faults += _level_faults(rule.level, at.child("level"))
        faults += _url_faults(rule.non_resource_urls, at.child("nonResourceURLs"))
        faults += _resource_faults(rule.resources, at.child("resources"))
        faults += _stage_faults(rule.omit_stages, at.child("omitStages"))
        if rule.non_resource_urls and (rule.resources or rule.namespaces):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            faults.append(invalid(at.child("nonResourceURLs"), rule.non_resource_urls, text))
    return faults


def _level_faults(level: str, path: Path) -> list[FieldError]:
    if not level:
        return [required(path)]
    return [] if level in LEVELS else [not_supported(path, level, LEVELS)]


def _url_faults(urls: list[str], path: Path) -> list[FieldError]:
    faults = []
    for index, url in enumerate(urls):
        if url == "*":
            continue
        if not url.startswith("/"):
            text = "non-resource URL rules must begin with a '/' character"
            faults.append(invalid(path.index(index), url, text))
        if "*" in url[:-1]:
            text = "non-resource URL wildcards '*' must be the final character of the rule"
            faults.append(invalid(path.index(index), url, text))
    return faults


def _resource_faults(resources: list[GroupResources], path: Path) -> list[FieldError]:
    faults = []
    for each in resources:
        if each.group not in ("", "*"):
            texts = dns1123_subdomain_errors(each.group)
            if texts:
                faults.append(invalid(path.child("group"), each.group, ",".join(texts)))
        if each.resource_names and not each.resources:
            text = "using resourceNames requires at least one resource"
            faults.append(invalid(path.child("resourceNames"), each.resource_names, text))
    return faults


def _stage_faults(stages: list[str], path: Path) -> list[FieldError]:
    text = f"allowed stages are {','.join(STAGES)}"
    return [invalid(path.index(index), stage, text) for index, stage in enumerate(stages) if stage not in STAGES]
