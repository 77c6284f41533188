"""`AuditEvent`: one stage of one request, in the formats of audit.k8s.io/v1 and of a legacy line of text.

Source: apiserver pkg/apis/audit/v1/types.go, pkg/audit/format.go (1.36).
"""

from typing import Any

import orjson

from sampan.core.field import quote

_KIND = b'{"kind":"Event","apiVersion":"audit.k8s.io/v1",'


class AuditEvent:
    """Audit event. `fields` is its JSON without kind and apiVersion, and must not be changed. Bodies are JSON
    fragments.
    """

    __slots__ = ("_encoded", "fields")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self._encoded = b""

    def item(self) -> bytes:
        """Return the event as an item of an EventList."""
        if not self._encoded:
            self._encoded = orjson.dumps(self.fields)
        return self._encoded

    def document(self) -> bytes:
        """Return the event as a JSON document without line feeds."""
        return _KIND + self.item()[1:]

    def without_bodies(self) -> "AuditEvent":
        """Return a copy without request and response bodies, marked as truncated."""
        fields = {name: value for name, value in self.fields.items() if name not in ("requestObject", "responseObject")}
        fields["annotations"] = {**fields.get("annotations", {}), "audit.k8s.io/truncated": "true"}
        return AuditEvent(fields)

    def legacy(self) -> str:
        """Return a line of text with the most important fields."""
        fields = self.fields
        user, other = fields["user"], fields.get("impersonatedUser")
        response = fields.get("responseStatus")
        values = {
            "id": fields["auditID"],
            "stage": fields["stage"],
            "ip": (fields.get("sourceIPs") or ["<unknown>"])[0],
            "method": fields["verb"],
            "user": user.get("username") or "<none>",
            "groups": _groups(user.get("groups")) if user.get("username") else "<none>",
            "as": other.get("username", "") if other is not None else "<self>",
            "asgroups": _groups(other.get("groups"), "<lookup>") if other is not None else "<lookup>",
            "user-agent": fields.get("userAgent", ""),
            "namespace": fields.get("objectRef", {}).get("namespace") or "<none>",
            "uri": fields["requestURI"],
        }
        text = " ".join(f"{name}={quote(value)}" for name, value in values.items())
        code = response.get("code", 0) if response is not None else "<deferred>"
        return f'{fields["requestReceivedTimestamp"]} AUDIT: {text} response="{code}"'


def _groups(groups: list[str] | None, none: str = "<none>") -> str:
    return ",".join(map(quote, groups)) if groups else none
