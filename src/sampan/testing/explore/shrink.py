"""Shrinking of a finding: changes of the user without which the fault has the same effect are left out.

A change that is left out is sent as a dry run: the user gets a response, but the cluster stays as it is.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sampan.client.transport import HttpRequest, HttpResponse
from sampan.testing.cluster import ADMIN, TEST, Cluster
from sampan.testing.explore.faults.held import name_in, resource_of
from sampan.testing.explore.plan import WriteId
from sampan.testing.explore.scenario import Scenario
from sampan.testing.requests import Proceed, SentRequest
from sampan.testing.servers.in_process import InProcessTransport
from sampan.wire import json


def without(scenario: Scenario, left_out: Sequence[WriteId]) -> Scenario:
    """Return a scenario in which these writes of the user are dry runs."""
    if not left_out:
        return scenario

    async def steps(cluster: Cluster, *system: Any) -> None:
        server = await cluster.server()
        headers = {"authorization": f"Bearer {server.users.token_of(ADMIN)}", "user-agent": TEST}
        transport = InProcessTransport(server.api.handler, headers=headers)
        cluster.interceptors.append(_DryRuns(frozenset(left_out), transport).intercept)
        try:
            await scenario.steps(cluster, *system)
        finally:
            await transport.aclose()

    return replace(scenario, steps=steps)


@dataclass(slots=True)
class _DryRuns:
    """Interceptor inside that of the trial, so that the writes of a plan keep their numbers."""

    left_out: frozenset[WriteId]
    transport: InProcessTransport
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _last: dict[tuple[str, str, str], HttpRequest] = field(default_factory=dict)
    """Last dry run that succeeded, by its object."""

    async def intercept(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        """Send a request, and a write that is left out only as a dry run."""
        if sent.actor != TEST or not sent.is_write:
            return await proceed()
        info = sent.info
        key = (sent.actor, info.verb, resource_of(sent), info.namespace, info.name or name_in(sent.request.body))
        self._counts[key] += 1
        write = WriteId(*key, occurrence=self._counts[key])
        if write not in self.left_out:
            return await proceed()
        request = _dry(sent.request)
        response = await self.transport.send(request)
        if response.status < 300:
            self._last[write.place] = request
        elif response.status == 404 and write.place in self._last:
            # The creation of the object is left out too: the response to it stands for this one.
            await response.aclose()
            response = await self.transport.send(self._last[write.place])
        return response


def _dry(request: HttpRequest) -> HttpRequest:
    """Return a request as a dry run. The options of a deletion are in its body, if it has one."""
    if request.method == "DELETE" and request.body:
        return replace(request, body=json.encode({**json.decode(request.body), "dryRun": ["All"]}))
    target = request.target
    return replace(request, target=f"{target}{'&' if '?' in target else '?'}dryRun=All")
