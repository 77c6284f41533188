"""Exploration: run a scenario again and again, each time with one fault at another moment.

    @scenario(set_up_operator, crds=(Store,))
    async def recreate(cluster: Cluster) -> None:
        await cluster.apply(STORE)
        await cluster.settled()
        await cluster.delete("stores/s")
        await cluster.settled()
        await cluster.apply(STORE)

    report = explore(recreate)
    assert not report.findings, report

Two runs without faults are the reference. Then each write of the operator is a moment to crash, to refuse the request,
or to lose or delay its response. The operator may also be down until a user's next write. At each write of any client,
the operator's view may stop updating, be late, or skip a state. Reads fail, another client changes an object before a
write, and the server cannot be reached for some time. A plan has one of these faults. The final state must be that of
the reference, whatever the plan.

Source of the method: Sieve (OSDI 2022), with its patterns intermediate state, stale state and unobserved state.
"""

from sampan.testing.explore.explorer import Finding, Report, explore, replay, shrink
from sampan.testing.explore.plan import PlannedFault, ReplayError, WriteId, read_replay, replay_text
from sampan.testing.explore.scenario import Check, Scenario, State, scenario

__all__ = [
    "Check",
    "Finding",
    "PlannedFault",
    "ReplayError",
    "Report",
    "Scenario",
    "State",
    "WriteId",
    "explore",
    "read_replay",
    "replay",
    "replay_text",
    "scenario",
    "shrink",
]
