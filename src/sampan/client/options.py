"""Options of requests, with the names of metav1: what they say in the query or in the body."""

from dataclasses import dataclass
from typing import Any, Literal

Propagation = Literal["Background", "Foreground", "Orphan"]
FieldValidation = Literal["Ignore", "Warn", "Strict"]


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What a list or a watch asks for (metav1.ListOptions). Empty and None mean: not said."""

    label_selector: str = ""
    field_selector: str = ""
    resource_version: str | None = None
    """None: not said (the most recent). "" is the same; "0": any, from a cache."""
    resource_version_match: str = ""
    """`NotOlderThan` or `Exact`."""
    limit: int = 0
    continue_token: str = ""
    timeout_seconds: int | None = None
    """After this the server ends a watch."""
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None

    def query(self) -> dict[str, str]:
        """The query parameters."""
        said = {
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
        return {name: value for name, value in said.items() if value}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a create, update, patch or apply asks for (metav1.CreateOptions and fellows)."""

    field_manager: str = ""
    field_validation: FieldValidation | None = None
    dry_run: bool = False
    force: bool = False
    """Of an apply: take over fields that other managers own."""

    def query(self) -> dict[str, str]:
        """The query parameters."""
        said = {
            "fieldManager": self.field_manager,
            "fieldValidation": self.field_validation or "",
            "dryRun": "All" if self.dry_run else "",
            "force": "true" if self.force else "",
        }
        return {name: value for name, value in said.items() if value}


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """What a delete asks for (metav1.DeleteOptions); it travels as the body."""

    propagation_policy: Propagation | None = None
    grace_period_seconds: int | None = None
    uid: str = ""
    """Precondition: delete only this very object."""
    resource_version: str = ""
    """Precondition: delete only if it has not changed."""
    dry_run: bool = False

    def body(self) -> dict[str, Any]:
        """The `DeleteOptions` object."""
        preconditions = {"uid": self.uid, "resourceVersion": self.resource_version}
        said = {
            "propagationPolicy": self.propagation_policy,
            "preconditions": {name: value for name, value in preconditions.items() if value},
            "dryRun": ["All"] if self.dry_run else [],
        }
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        body.update({name: value for name, value in said.items() if value})
        if self.grace_period_seconds is not None:
            body["gracePeriodSeconds"] = self.grace_period_seconds
        return body
