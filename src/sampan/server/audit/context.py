"""`AuditContext`: what is known of one request that is audited, until its events are made.

Source: apiserver pkg/audit/{context,request}.go, pkg/endpoints/filters/audit.go (1.36).
"""

import ipaddress
import time
import zlib
from collections.abc import Callable
from typing import Any

import orjson

from sampan.core.errors import StatusError
from sampan.core.time import format_duration
from sampan.server.audit.evaluator import Decision
from sampan.server.audit.event import Event
from sampan.server.request import Request, Response, UserInfo
from sampan.wire import json as wire_json
from sampan.wire import protobuf as wire_protobuf
from sampan.wire import yaml as wire_yaml
from sampan.wire.protobuf.envelope import MAGIC

METADATA, REQUEST, REQUEST_RESPONSE = 1, 2, 3
"""Ranks of the levels; see `policy.LEVELS`."""
BODY_BYTES_MAX = 4 << 20
"""A longer object is left out of events; the annotation that Kubernetes' truncation sets says so."""
_TRUNCATED = {"audit.k8s.io/truncated": "true"}
_USER_AGENT_MAX = 1024
_STATUS_FIELDS = ("status", "message", "reason", "details", "code")
_OBJECT = b'{"kind":'
_STATUS = b'{"kind":"Status"'
_SLOW_S = 0.5
_LATENCY = "apiserver.latency.k8s.io/"
_TAKEN_OVER = (("namespace", "namespace"), ("name", "name"), ("uid", "uid"), ("resourceVersion", "resourceVersion"))


class AuditContext:
    """Fills the event's fields as the request goes on. `received`: when it began, as a MicroTime."""

    def __init__(self, request: Request, decision: Decision, received: str) -> None:
        self._request, self._decision = request, decision
        self._fields = _beginning(request, decision.level)
        self.received = received
        self._reference: dict[str, str] | None = _reference(request) if request.info.is_resource else None
        self._request_object: orjson.Fragment | None = None
        self._response_object: orjson.Fragment | None = None
        self._status: dict[str, Any] | None = None
        self._truncated = False

    def wants(self, stage: str) -> bool:
        """Whether the policy wants events of this stage."""
        return stage not in self._decision.omit_stages

    def body_read(self, value: Any, recorded: Callable[[], Any]) -> None:
        """Takes the decoded body before anything of it is changed: an object, the options of a deletion or a patch.

        `recorded` gives what events show of it.
        """
        if self._reference is None:
            return
        if self._request.info.verb != "patch" and isinstance(value, dict):
            metadata = value.get("metadata")
            if isinstance(metadata, dict):
                for name, source in _TAKEN_OVER:
                    found = metadata.get(source)
                    if found and isinstance(found, str):
                        self._reference.setdefault(name, found)
        if self._decision.rank >= REQUEST and value is not None:
            self._request_object = self._fitting(
                _encoded(recorded(), omit_managed_fields=self._decision.omit_managed_fields)
            )

    def _fitting(self, body: bytes | None) -> orjson.Fragment | None:
        """An object for the event; None: there is none, or it is too long."""
        if body is None or len(body) <= BODY_BYTES_MAX:
            return None if body is None else orjson.Fragment(body)
        self._truncated = True
        return None

    def answered(self, response: Response) -> None:
        """Takes the answer."""
        body = response.body
        self._status = {"metadata": {}}
        if body.startswith(_STATUS):
            status = wire_json.decode(body)
            self._status |= {name: status[name] for name in _STATUS_FIELDS if name in status}
        self._status["code"] = response.status
        if self._decision.rank >= REQUEST_RESPONSE and (self._request.info.is_resource or _holds_an_object(response)):
            if len(body) > BODY_BYTES_MAX:
                self._truncated = True
                return
            self._response_object = self._fitting(
                _body_of(response, omit_managed_fields=self._decision.omit_managed_fields)
            )

    def refused(self, error: StatusError) -> None:
        """Takes the error that the request ends with."""
        status = error.to_status()
        self._status = {"metadata": {}} | {name: status[name] for name in _STATUS_FIELDS if name in status}
        if self._decision.rank >= REQUEST_RESPONSE:
            self._response_object = self._fitting(orjson.dumps(status))

    def status(self, code: int, status: str, message: str, reason: str = "") -> None:
        """Says how a request ended that has no answer."""
        self._status = {"metadata": {}, "status": status, "message": message}
        if reason:
            self._status["reason"] = reason
        self._status["code"] = code

    def event(self, stage: str, at: str) -> Event:
        """The event of a stage that is reached `at` this MicroTime."""
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
        return Event(fields)

    def _latencies(self) -> dict[str, str]:
        """What took how long, if all took longer than `_SLOW_S`."""
        total_s = time.monotonic() - self._request.received
        if not self._request.received or total_s <= _SLOW_S:
            return {}
        found = {**self._request.latencies, "total": total_s}
        return {f"{_LATENCY}{name}": format_duration(round(seconds * 1e9)) for name, seconds in found.items()}


def _beginning(request: Request, level: str) -> dict[str, Any]:
    """The fields that do not change any more, in Kubernetes' order."""
    query = request.query_string
    fields: dict[str, Any] = {
        "level": level,
        "auditID": request.audit_id,
        "stage": "",
        "requestURI": f"{request.raw_path}?{query}" if query else request.raw_path,
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
    """Where a request comes from: what proxies say of it, then the address of the connection. All but the last may be
    made up.

    Source: apimachinery pkg/util/net/http.go SourceIPs (1.36).
    """
    headers, connected = request.headers, request.client_address
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


def _holds_an_object(response: Response) -> bool:
    """Whether the answer to a request for no resource is one of the API's objects, as discovery is."""
    body, packed = response.body, response.gzip_body
    if not body and packed is not None:
        body = zlib.decompressobj(wbits=31).decompress(packed, len(_OBJECT))
    return body.startswith((_OBJECT, MAGIC))


def _body_of(response: Response, *, omit_managed_fields: bool) -> bytes | None:
    """The object in an answer, as JSON; None where there is none. One that is too long may be cut."""
    body, content_type = response.body, response.content_type
    if response.gzip_body is not None and not body:
        body = zlib.decompressobj(wbits=31).decompress(response.gzip_body, BODY_BYTES_MAX + 1)
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
    """A copy of an object, a list or a Table; nothing of the original is changed."""
    value = _one_without(value)
    items, rows = value.get("items"), value.get("rows")
    if isinstance(items, list):
        value["items"] = [_one_without(item) if isinstance(item, dict) else item for item in items]
    if isinstance(rows, list) and value.get("kind") == "Table":
        value["rows"] = [
            {**row, "object": _one_without(row["object"])} if isinstance(row.get("object"), dict) else row
            for row in rows
        ]
    return value


def _one_without(value: dict[str, Any]) -> dict[str, Any]:
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return dict(value)
    kept = {name: part for name, part in metadata.items() if name != "managedFields"}
    return {**value, "metadata": kept}
