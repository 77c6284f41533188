"""Options of requests, named as in metav1, and their form in query or body."""

from dataclasses import dataclass
from typing import Any, Literal

Propagation = Literal["Background", "Foreground", "Orphan"]
FieldValidation = Literal["Ignore", "Warn", "Strict"]


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Options of a list or watch (metav1.ListOptions). Empty values and None are not sent."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str | None = None
    """None or "": the newest state. "0": any state, from a cache."""
    resource_version_match: str = ""
    """`NotOlderThan` or `Exact`."""
    limit: int = 0
    continue_token: str = ""
    timeout_seconds: int | None = None
    """Time after which the server ends a watch."""
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None

    def query(self) -> dict[str, str]:
        """Return the query parameters."""
        values = {
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
            "resourceVersion": self.resource_version,
            "resourceVersionMatch": self.resource_version_match,
            "limit": str(self.limit) if self.limit else "",
            "continue": self.continue_token,
            "timeoutSeconds": "" if self.timeout_seconds is None else str(self.timeout_seconds),
            "allowWatchBookmarks": "true" if self.allow_watch_bookmarks else "",
            "sendInitialEvents": "" if self.send_initial_events is None else str(self.send_initial_events).lower(),
        }
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of a create, update, patch or apply (metav1.CreateOptions, UpdateOptions, PatchOptions)."""

    field_manager: str = ""
    field_validation: FieldValidation | None = None
    dry_run: bool = False
    force: bool = False
    """For an apply: take over fields that other managers own."""

    def query(self) -> dict[str, str]:
        """Return the query parameters."""
        values = {
            "fieldManager": self.field_manager,
            "fieldValidation": self.field_validation or "",
            "dryRun": "All" if self.dry_run else "",
            "force": "true" if self.force else "",
        }
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Options of a delete (metav1.DeleteOptions), sent as the body."""

    propagation_policy: Propagation | None = None
    grace_period_seconds: int | None = None
    uid: str = ""
    """Precondition: delete only the object with this uid."""
    resource_version: str = ""
    """Precondition: delete only if the object still has this version."""
    dry_run: bool = False

    def body(self) -> dict[str, Any]:
        """Return the `DeleteOptions` object."""
        preconditions = {"uid": self.uid, "resourceVersion": self.resource_version}
        values = {
            "propagationPolicy": self.propagation_policy,
            "preconditions": {name: value for name, value in preconditions.items() if value},
            "dryRun": ["All"] if self.dry_run else [],
        }
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        body.update({name: value for name, value in values.items() if value})
        if self.grace_period_seconds is not None:
            body["gracePeriodSeconds"] = self.grace_period_seconds
        return body
