"""`AuditContext`: the audit data of one request, from which its events are created.

Source: apiserver pkg/audit/{context,request}.go, pkg/endpoints/filters/audit.go (1.36).
"""

import ipaddress
import zlib
from collections.abc import Callable
from typing import Any

import orjson

from sampan.core.clock import monotonic
from sampan.core.errors import StatusError
from sampan.core.time import format_duration
from sampan.server.audit.evaluator import AuditDecision
from sampan.server.audit.event import AuditEvent
from sampan.server.request import Request, Response, UserInfo
from sampan.wire import json as wire_json
from sampan.wire import protobuf as wire_protobuf
from sampan.wire import yaml as wire_yaml
from sampan.wire.protobuf.envelope import MAGIC

METADATA, REQUEST, REQUEST_RESPONSE = 1, 2, 3
"""Ranks of the levels in `policy.LEVELS`."""
BODY_BYTES_MAX = 4 << 20
"""Maximum size of an object in an event. A larger one is left out, and the event has Kubernetes' annotation for
truncation.
"""
_TRUNCATED = {"audit.k8s.io/truncated": "true"}
_USER_AGENT_MAX = 1024
_STATUS_FIELDS = ("status", "message", "reason", "details", "code")
_OBJECT = b'{"kind":'
_STATUS = b'{"kind":"Status"'
_SLOW_S = 0.5
_LATENCY = "apiserver.latency.k8s.io/"
_REFERENCE_FIELDS = (
    ("namespace", "namespace"),
    ("name", "name"),
    ("uid", "uid"),
    ("resourceVersion", "resourceVersion"),
)


class AuditContext:
    """Collects the fields of the request's events. `received` is the start of the request as a MicroTime."""

    def __init__(self, request: Request, decision: AuditDecision, received: str) -> None:
        self._request, self._decision = request, decision
        self._fields = _initial_fields(request, decision.level)
        self.received = received
        self._reference: dict[str, str] | None = _reference(request) if request.info.is_resource else None
        self._request_object: orjson.Fragment | None = None
        self._response_object: orjson.Fragment | None = None
        self._status: dict[str, Any] | None = None
        self._truncated = False

    def wants(self, stage: str) -> bool:
        """Return True if the policy selects events of this stage."""
        return stage not in self._decision.omit_stages

    def body_read(self, value: Any, recorded: Callable[[], Any]) -> None:
        """Record the decoded body before it is changed: an object, a patch, or the options of a deletion.

        `recorded` returns the form of the value that events contain.
        """
        if self._reference is None:
            return
        if self._request.info.verb != "patch" and isinstance(value, dict):
            metadata = value.get("metadata")
            if isinstance(metadata, dict):
                for name, source in _REFERENCE_FIELDS:
                    found = metadata.get(source)
                    if found and isinstance(found, str):
                        self._reference.setdefault(name, found)
        if self._decision.rank >= REQUEST and value is not None:
            self._request_object = self._limited(
                _encoded(recorded(), omit_managed_fields=self._decision.omit_managed_fields)
            )

    def _limited(self, body: bytes | None) -> orjson.Fragment | None:
        """Return an object for the event, or None if it is missing or too large."""
        if body is None or len(body) <= BODY_BYTES_MAX:
            return None if body is None else orjson.Fragment(body)
        self._truncated = True
        return None

    def record_response(self, response: Response) -> None:
        """Add the status of the response and, at level RequestResponse, its body to the event."""
        body = response.body
        self._status = {"metadata": {}}
        if body.startswith(_STATUS):
            status = wire_json.decode(body)
            self._status |= {name: status[name] for name in _STATUS_FIELDS if name in status}
        self._status["code"] = response.status
        if self._decision.rank >= REQUEST_RESPONSE and (self._request.info.is_resource or _contains_object(response)):
            if response.finite or (
                len(body) + sum(map(len, response.rest)) > BODY_BYTES_MAX and response.gzip_body is None
            ):
                self._truncated = True
                return
            self._response_object = self._limited(
                _body_of(response, omit_managed_fields=self._decision.omit_managed_fields)
            )

    def refused(self, error: StatusError) -> None:
        """Record the error that ends the request."""
        status = error.to_status()
        self._status = {"metadata": {}} | {name: status[name] for name in _STATUS_FIELDS if name in status}
        if self._decision.rank >= REQUEST_RESPONSE:
            self._response_object = self._limited(orjson.dumps(status))

    def status(self, code: int, status: str, message: str, reason: str = "") -> None:
        """Record the status of a request that ended without a response."""
        self._status = {"metadata": {}, "status": status, "message": message}
        if reason:
            self._status["reason"] = reason
        self._status["code"] = code

    def event(self, stage: str, at: str) -> AuditEvent:
        """Return the event of a stage that is reached at the MicroTime `at`."""
        request = self._request
        fields = self._fields.copy()
        fields["stage"] = stage
        if request.impersonator is not None:
            fields["impersonatedUser"] = _user(request.user)
            if request.impersonation_constraint:
                fields["authenticationMetadata"] = {"impersonationConstraint": request.impersonation_constraint}
        if self._reference is not None:
            fields["objectRef"] = dict(self._reference)
        if self._status is not None:
            fields["responseStatus"] = self._status
        if self._request_object is not None:
            fields["requestObject"] = self._request_object
        if self._response_object is not None:
            fields["responseObject"] = self._response_object
        fields["requestReceivedTimestamp"] = self.received
        fields["stageTimestamp"] = at
        annotations = dict(request.annotations)
        if stage == "ResponseComplete":
            annotations |= self._latencies()
        if self._decision.rank >= REQUEST:
            annotations |= request.body_annotations
        if self._truncated:
            annotations |= _TRUNCATED
        if annotations:
            fields["annotations"] = annotations
        return AuditEvent(fields)

    def _latencies(self) -> dict[str, str]:
        """Return the latencies as annotations, if the whole request took longer than `_SLOW_S`."""
        total_s = monotonic() - self._request.wire.received
        if not self._request.wire.received or total_s <= _SLOW_S:
            return {}
        found = {**self._request.latencies, "total": total_s}
        return {f"{_LATENCY}{name}": format_duration(round(seconds * 1e9)) for name, seconds in found.items()}


def _initial_fields(request: Request, level: str) -> dict[str, Any]:
    """Return the constant fields of the events, in Kubernetes' order."""
    fields: dict[str, Any] = {
        "level": level,
        "auditID": request.audit_id,
        "stage": "",
        "requestURI": request.wire.raw_target,
        "verb": request.info.verb,
        "user": _user(request.user),
    }
    addresses = source_addresses(request)
    if addresses:
        fields["sourceIPs"] = addresses
    agent = request.headers.get("user-agent", "")
    if agent:
        fields["userAgent"] = agent if len(agent) <= _USER_AGENT_MAX else f"{agent[:_USER_AGENT_MAX]}...TRUNCATED"
    return fields


def _user(user: UserInfo | None) -> dict[str, Any]:
    if user is None:
        return {}
    shown: dict[str, Any] = {}
    if user.name:
        shown["username"] = user.name
    if user.uid:
        shown["uid"] = user.uid
    if user.groups:
        shown["groups"] = user.groups
    if user.extra:
        shown["extra"] = user.extra
    return shown


def _reference(request: Request) -> dict[str, str]:
    info = request.info
    reference = {"resource": info.resource}
    if info.namespace:
        reference["namespace"] = info.namespace
    if info.name:
        reference["name"] = info.name
    if info.group:
        reference["apiGroup"] = info.group
    reference["apiVersion"] = info.version
    if info.subresource:
        reference["subresource"] = info.subresource
    return reference


def source_addresses(request: Request) -> list[str]:
    """Return the addresses of the client: those in proxy headers, then that of the connection.

    Only the last address can be trusted, because clients can set the headers.
    Source: apimachinery pkg/util/net/http.go SourceIPs (1.36).
    """
    headers, connected = request.headers, request.wire.client_address
    forwarded, real = headers.get("x-forwarded-for"), headers.get("x-real-ip")
    if not forwarded and not real:
        return [connected] if connected else []
    found = [address for part in (forwarded or "").split(",") if (address := _address(part))]
    real = _address(real or "")
    if real and real not in found:
        found.append(real)
    if connected and (not found or found[-1] != connected):
        found.append(connected)
    return found


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        return ""


def _contains_object(response: Response) -> bool:
    """Return True if the response to a non-resource request contains an API object, as that of discovery does."""
    body, packed = response.body, response.gzip_body
    if not body and packed is not None:
        body = zlib.decompressobj(wbits=31).decompress(packed, len(_OBJECT))
    return body.startswith((_OBJECT, MAGIC))


def _body_of(response: Response, *, omit_managed_fields: bool) -> bytes | None:
    """Return the object in a response as JSON, or None. An object that is too large may be incomplete."""
    body, content_type = b"".join((response.body, *response.rest)), response.content_type
    if response.gzip_body is not None and not response.body:
        packed = b"".join((response.gzip_body, *response.rest))
        body = zlib.decompressobj(wbits=31).decompress(packed, BODY_BYTES_MAX + 1)
        if len(body) > BODY_BYTES_MAX:
            return body
    if not body or response.stream is not None:
        return None
    try:
        if content_type.startswith("application/json"):
            stripped = body.rstrip()
            if not omit_managed_fields and b"\n" not in stripped:
                return stripped
            value = wire_json.decode(body)
        elif content_type.startswith("application/yaml"):
            value = wire_yaml.decode(body)
        elif content_type.startswith("application/vnd.kubernetes.protobuf"):
            value = wire_protobuf.decode(body)
        else:
            return None
    except ValueError:
        return None
    return _encoded(value, omit_managed_fields=omit_managed_fields)


def _encoded(value: Any, *, omit_managed_fields: bool) -> bytes | None:
    if omit_managed_fields and isinstance(value, dict):
        value = _without_managed_fields(value)
    try:
        return wire_json.encode(value)
    except ValueError:
        return None


def _without_managed_fields(value: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of an object, a list or a Table. The original is not changed."""
    value = _without_managed_fields_of(value)
    items, rows = value.get("items"), value.get("rows")
    if isinstance(items, list):
        value["items"] = [_without_managed_fields_of(item) if isinstance(item, dict) else item for item in items]
    if isinstance(rows, list) and value.get("kind") == "Table":
        value["rows"] = [
            {**row, "object": _without_managed_fields_of(row["object"])} if isinstance(row.get("object"), dict) else row
            for row in rows
        ]
    return value


def _without_managed_fields_of(value: dict[str, Any]) -> dict[str, Any]:
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return dict(value)
    kept = {name: part for name, part in metadata.items() if name != "managedFields"}
    return {**value, "metadata": kept}
