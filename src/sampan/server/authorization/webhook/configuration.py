"""AuthorizationConfiguration: the authorizers, their order, and the settings of webhooks.

Source: apiserver pkg/apis/apiserver/{v1/types,v1/defaults,validation/validation}.go (1.36).
"""

import re
from collections.abc import Iterable
from pathlib import Path as FilePath
from typing import Any, Final

import msgspec

from sampan.core.field import FieldError, Path, duplicate, invalid, not_supported, required, too_many
from sampan.core.time import format_duration, parse_duration
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.schema.cel import Program
from sampan.server.authorization.webhook.conditions import ConditionCompiler
from sampan.wire import yaml as wire_yaml
from sampan.wire.json import DecodeError

KIND: Final = "AuthorizationConfiguration"
VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")
MODES: Final = ("ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook")
CONDITIONS_MAX: Final = 64
_GROUP: Final = "apiserver.config.k8s.io"
_TIMEOUT_NS_MAX: Final = 30_000_000_000
_KUBECONFIG: Final = "KubeConfigFile"
_IN_CLUSTER: Final = "InClusterConfig"
_UNKNOWN: Final = re.compile(r"Object contains unknown field `([^`]*)`(?: - at `\$\.?(.*)`)?")


class _Part(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Base class for parts of the configuration file. Field names are those of the file; unknown fields are errors."""


class WebhookMatchCondition(_Part, frozen=True):
    """CEL expression that must be true before a review is sent."""

    expression: str = ""


class ConnectionInfo(_Part, frozen=True):
    """Connection to the webhook."""

    type: str = ""
    kube_config_file: str | None = None


class WebhookPart(_Part, frozen=True):
    """Settings of a webhook. Durations are strings in Go's format."""

    authorized_ttl: str = msgspec.field(default="", name="authorizedTTL")
    cache_authorized_requests: bool = True
    unauthorized_ttl: str = msgspec.field(default="", name="unauthorizedTTL")
    cache_unauthorized_requests: bool = True
    timeout: str = ""
    subject_access_review_version: str = ""
    match_condition_subject_access_review_version: str = ""
    failure_policy: str = ""
    connection_info: ConnectionInfo = ConnectionInfo()
    match_conditions: list[WebhookMatchCondition] = []

    @property
    def authorized_ttl_ns(self) -> int:
        """Lifetime of cached responses that allow; the default is 5 minutes."""
        return parse_duration(self.authorized_ttl or "0") or 300_000_000_000

    @property
    def unauthorized_ttl_ns(self) -> int:
        """Lifetime of other cached responses; the default is 30 seconds."""
        return parse_duration(self.unauthorized_ttl or "0") or 30_000_000_000

    @property
    def timeout_ns(self) -> int:
        """Timeout of a webhook request; there is no default."""
        return parse_duration(self.timeout or "0")


class AuthorizerPart(_Part, frozen=True):
    """Settings of one authorizer."""

    type: str = ""
    name: str = ""
    webhook: WebhookPart | None = None


class AuthorizationConfiguration(_Part, frozen=True):
    """Content of the configuration file."""

    api_version: str = ""
    kind: str = ""
    authorizers: list[AuthorizerPart] = []


def parse_configuration(text: bytes) -> AuthorizationConfiguration:
    """Decode YAML or JSON. Raises `ValueError` for unreadable text, unknown fields and other kinds."""
    try:
        value, faults = wire_yaml.decode_file_strict(text)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    if faults:
        raise ValueError(f"strict decoding error: {', '.join(faults)}")
    if not isinstance(value, dict):
        raise ValueError(f"the file contains no {KIND}")
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if kind != KIND or api_version not in {f"{_GROUP}/{version}" for version in VERSIONS}:
        raise ValueError(f'no kind "{kind}" is registered for version "{api_version}", expected {_GROUP}/v1 {KIND}')
    try:
        configuration = msgspec.convert(value, AuthorizationConfiguration)
        for part in configuration.authorizers:
            if part.webhook is not None:
                _ = (part.webhook.authorized_ttl_ns, part.webhook.unauthorized_ttl_ns, part.webhook.timeout_ns)
    except msgspec.ValidationError as error:
        raise ValueError(_shown(str(error))) from None
    return configuration


def configuration_faults(configuration: AuthorizationConfiguration, compiler: ConditionCompiler) -> list[FieldError]:
    """Return the reasons why the server cannot use a configuration, with their field paths."""
    faults: list[FieldError] = []
    if not configuration.authorizers:
        faults.append(required(Path("authorizers"), "at least one authorization mode must be defined"))
    types: set[str] = set()
    names: set[str] = set()
    for index, part in enumerate(configuration.authorizers):
        at = Path("authorizers").index(index)
        if not part.type:
            faults.append(required(at.child("type")))
        elif part.type not in MODES:
            faults.append(not_supported(at.child("type"), part.type, MODES))
        elif part.type in types and part.type != "Webhook":
            faults.append(duplicate(at.child("type"), part.type))
        else:
            types.add(part.type)
            _check_name(part.name, names, at.child("name"), faults)
            _check_part(part, at, compiler, faults)
    return faults


def compiled_conditions(
    conditions: Iterable[WebhookMatchCondition], at: Path, compiler: ConditionCompiler, faults: list[FieldError]
) -> list[Program]:
    """Compile match conditions. Append errors to `faults`."""
    programs: list[Program] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        path = at.child("matchConditions").index(index).child("expression")
        expression = condition.expression
        if not expression.strip():
            faults.append(required(path))
        elif expression in seen:
            faults.append(duplicate(path, expression))
        else:
            seen.add(expression)
            compiled = compiler.compile(expression, path)
            if isinstance(compiled, FieldError):
                faults.append(compiled)
            else:
                programs.append(compiled)
    return programs


def _check_name(name: str, names: set[str], path: Path, faults: list[FieldError]) -> None:
    if not name:
        faults.append(required(path))
    elif name in names:
        faults.append(duplicate(path, name))
    elif texts := dns1123_subdomain_errors(name):
        faults.append(invalid(path, name, f"authorizer name is invalid: {', '.join(texts)}"))
    names.add(name)


def _check_part(part: AuthorizerPart, at: Path, compiler: ConditionCompiler, faults: list[FieldError]) -> None:
    webhook = part.webhook
    if part.type != "Webhook":
        if webhook is not None:
            faults.append(invalid(at.child("webhook"), "non-null", "may only be specified when type=Webhook"))
    elif webhook is None:
        faults.append(required(at.child("webhook"), "required when type=Webhook"))
    else:
        _check_times(webhook, at, faults)
        _check_words(webhook, at, faults)
        _check_connection(webhook.connection_info, at.child("connectionInfo"), faults)
        if len(webhook.match_conditions) > CONDITIONS_MAX:
            faults.append(too_many(at.child("matchConditions"), len(webhook.match_conditions), CONDITIONS_MAX))
        else:
            compiled_conditions(webhook.match_conditions, at, compiler, faults)


def _check_times(webhook: WebhookPart, at: Path, faults: list[FieldError]) -> None:
    timeout_ns = webhook.timeout_ns
    if not timeout_ns:
        faults.append(required(at.child("timeout")))
    elif not 0 < timeout_ns <= _TIMEOUT_NS_MAX:
        faults.append(invalid(at.child("timeout"), format_duration(timeout_ns), "must be > 0s and <= 30s"))
    ttls = (("authorizedTTL", webhook.authorized_ttl_ns), ("unauthorizedTTL", webhook.unauthorized_ttl_ns))
    for name, ttl_ns in ttls:
        if ttl_ns < 0:
            faults.append(invalid(at.child(name), format_duration(ttl_ns), "must be > 0s"))


def _check_words(webhook: WebhookPart, at: Path, faults: list[FieldError]) -> None:
    _check_word(
        webhook.subject_access_review_version, ("v1", "v1beta1"), at.child("subjectAccessReviewVersion"), faults
    )
    path = at.child("matchConditionSubjectAccessReviewVersion")
    version = webhook.match_condition_subject_access_review_version
    if version:
        _check_word(version, ("v1",), path, faults)
    elif webhook.match_conditions:
        faults.append(required(path, "required if match conditions are specified"))
    _check_word(webhook.failure_policy, ("NoOpinion", "Deny"), at.child("failurePolicy"), faults)


def _check_word(word: str, known: tuple[str, ...], path: Path, faults: list[FieldError]) -> None:
    if not word:
        faults.append(required(path))
    elif word not in known:
        faults.append(not_supported(path, word, known))


def _check_connection(connection: ConnectionInfo, at: Path, faults: list[FieldError]) -> None:
    _check_word(connection.type, (_IN_CLUSTER, _KUBECONFIG), at.child("type"), faults)
    path, file = at.child("kubeConfigFile"), connection.kube_config_file
    if connection.type == _IN_CLUSTER and file is not None:
        faults.append(invalid(path, file, "can only be set when type=KubeConfigFile"))
    if connection.type != _KUBECONFIG:
        return
    if not file:
        faults.append(required(path))
    elif not FilePath(file).is_absolute():
        faults.append(invalid(path, file, "must be an absolute path"))
    elif not FilePath(file).exists():
        text = f"error loading file: stat {file}: no such file or directory"
        faults.append(invalid(path, file, text))
    elif not FilePath(file).is_file():
        faults.append(invalid(path, file, "must be a regular file"))


def _shown(text: str) -> str:
    match: Any = _UNKNOWN.fullmatch(text)
    if match is None:
        return text
    name, place = match.groups()
    return f'strict decoding error: unknown field "{f"{place}.{name}" if place else name}"'
