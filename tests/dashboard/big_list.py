"""`BigList`: a list of many simulated Pods, in pages, with a watch that sends events at a rate."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from sampan.server.request import Request, Response

PATH: Final = "/api/v1/pods"
_COLUMNS: Final = [
    {"name": "Name", "type": "string", "format": "name", "description": "Name of the Pod.", "priority": 0},
    *({"name": name, "type": "string", "format": "", "description": "", "priority": 0} for name in ("Ready", "Status")),
    {"name": "Restarts", "type": "string", "format": "", "description": "", "priority": 0},
    {"name": "Age", "type": "string", "format": "", "description": "", "priority": 0},
]
_STATES: Final = ("Running", "Running", "Running", "Pending", "CrashLoopBackOff")


def row(i: int, status: str = "") -> dict[str, Any]:
    """Return the row of a Pod."""
    state = status or _STATES[i % len(_STATES)]
    name = f"web-{i:06d}"
    metadata = {
        "name": name,
        "namespace": f"team-{i % 20}",
        "uid": f"00000000-0000-0000-0000-{i:012d}",
        "resourceVersion": str(i + 1),
        "creationTimestamp": f"2026-01-{1 + i % 28:02d}T00:{i % 60:02d}:00Z",
        "labels": {"app": "web", "index": str(i)},
    }
    return {
        "cells": [name, "1/1" if state == "Running" else "0/1", state, str(i % 7), "5d"],
        "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata},
    }


class BigList:
    """Answer for the path of all Pods."""

    def __init__(self, count: int, events_per_second: int = 0) -> None:
        self.count = count
        self.rate = events_per_second
        self.pages: list[int] = []
        """Sizes of the pages that were requested."""
        self.sent = 0

    def response(self, request: Request) -> Response:
        """Return a page, or the watch."""
        if request.wire.param("watch") == "1":
            return Response(200, stream=self._events())
        start = int(request.wire.param("continue") or 0)
        limit = int(request.wire.param("limit") or self.count)
        self.pages.append(limit)
        end = min(self.count, start + limit)
        left = self.count - end
        metadata: dict[str, Any] = {"resourceVersion": "1000000"}
        if left:
            metadata |= {"continue": str(end), "remainingItemCount": left}
        return Response(200, json.dumps(_table([row(i) for i in range(start, end)], metadata)).encode())

    async def _events(self) -> AsyncIterator[bytes]:
        if not self.rate:
            await asyncio.Event().wait()
        began = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(0.02)
            due = int((asyncio.get_running_loop().time() - began) * self.rate) - self.sent
            lines = [self._event(self.sent + i) for i in range(due)]
            self.sent += due
            yield b"".join(lines)

    def _event(self, number: int) -> bytes:
        changed = row(number * 7919 % self.count, f"Running{number % 10}" if number % 3 else "Running")
        event = {"type": "MODIFIED", "object": _table([changed], {"resourceVersion": str(1_000_001 + number)})}
        return json.dumps(event).encode() + b"\n"


def _table(rows: list[dict[str, Any]], metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": _COLUMNS,
        "rows": rows,
    }
