"""`VolumeState`: memory of the controller about one volume. A restart may lose it."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class VolumeState:
    """Times and reports about the attachments of a volume, by the UIDs of its VolumeAttachments."""

    unneeded_since: dict[str, dt.datetime] = field(default_factory=dict)
    """Time since which no Pod has needed an attachment."""
    pending: set[str] = field(default_factory=set)
    """Attachments observed before they succeeded. Their success is recorded as an event."""
    errors: dict[str, str] = field(default_factory=dict)
    """Time of the last reported error of an attachment."""
    refused: set[str] = field(default_factory=set)
    """Nodes whose Pods have been notified that the volume is attached to another node."""

    def keep(self, uids: Iterable[str], nodes: Iterable[str]) -> None:
        """Drop the state of all other attachments and nodes."""
        present = set(uids)
        self.pending &= present
        self.refused &= set(nodes)
        for times in (self.unneeded_since, self.errors):
            for uid in times.keys() - present:
                del times[uid]
