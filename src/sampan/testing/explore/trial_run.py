"""`run_trial`: one run of a scenario, with one fault or none.

Concurrency: each trial has a separate event loop, in virtual time. The fault acts in an interceptor of requests.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from sampan.client.transport import HttpRequest
from sampan.operator.leader_election import LeaderElectionConfig
from sampan.operator.manager import ManagerOptions
from sampan.server.request import UserInfo
from sampan.testing.cluster import ADMIN, Cluster
from sampan.testing.cluster_options import ClusterOptions
from sampan.testing.explore.outcome import Outcome, error_line, log_of, outcome_of
from sampan.testing.explore.plan import PlannedFault, WriteId
from sampan.testing.explore.scenario import Scenario
from sampan.testing.explore.trial import Trial
from sampan.testing.explore.trial_points import OPERATOR
from sampan.testing.faults.points import fault_points
from sampan.testing.observations.leaks import stored
from sampan.testing.observations.suspicions import suspicions
from sampan.testing.observations.values import masked
from sampan.testing.randomness import seeded
from sampan.testing.servers.logical_server import template
from sampan.testing.time.virtual_time import run_virtual

TRIAL_S_MAX: Final = 6 * 3600.0
"""Longest time of one run, in virtual seconds."""
_CALM_S: Final = 120.0
"""Virtual seconds at the end, for retries with a delay."""
_GROUP: Final = "rbac.authorization.k8s.io"
_USER: Final = UserInfo("explored-operator")


def run_trial(
    scenario: Scenario,
    plan: PlannedFault | None = None,
    *,
    seed: int = 0,
    logged: bool = False,
    reference: Outcome | None = None,
    unstable: Collection[str] | None = None,
) -> Outcome:
    """Run a scenario and return its outcome. An error of the scenario or the operator is part of the outcome.

    Runs with equal seeds have equal bytes in the store. `logged`: the outcome has all requests and the store in its
    `log`. `reference` is the outcome of the run without a fault; the fault `overtaken` needs it. `unstable`: paths at
    which changes are counted; None: all.
    """
    template()
    early = {} if reference is None else reference.sent
    with seeded(seed):
        return run_virtual(_run(scenario, plan, logged, unstable, early))


async def _run(
    scenario: Scenario,
    plan: PlannedFault | None,
    logged: bool,
    unstable: Collection[str] | None,
    early: Mapping[WriteId, HttpRequest],
) -> Outcome:
    # With a fault, errors are expected, and only the end counts. Without one, they are faults of the operator.
    allowed = scenario.allow_errors if plan is None else True
    cluster = Cluster(ClusterOptions(loops=scenario.loops, allow_errors=allowed))
    trial = Trial(cluster, plan, lease=scenario.lease, user=_user_of(scenario), early=early)
    try:
        await cluster.crds(*scenario.crds)
        if scenario.rbac is not None:
            await _grant(cluster, scenario.rbac)
        await cluster.settled()
        first = len(cluster.journal.writes)
        cluster.interceptors.append(trial.intercept)
        await trial.dependencies.create(scenario.needs)
        system = () if scenario.system is None else (scenario.system(),)
        with fault_points(trial.points):
            trial.life.running = cluster.run(
                _with_system(scenario.operator, system),
                name=OPERATOR,
                user=_name_of(scenario),
                options=_options_of(scenario),
            )
        error, details = await _steps(scenario, trial, system)
        fired = plan is None or trial.fired or trial.dependencies.fired
        found = await outcome_of(
            cluster, first, trial.writes, error, fired=fired, checks=scenario.checks, unstable=unstable
        )
        return replace(
            found,
            state={**found.state, **({"external system": masked(_state_of(system[0]))} if system else {})},
            requests=len(cluster.requests.by(OPERATOR)),
            suspicious=tuple(suspicions(cluster.journal.writes[first:], cluster.requests)) if plan is None else (),
            details=details,
            broken=(*found.broken, *trial.broken),
            awaits=tuple(trial.points.awaits),
            owned=tuple(trial.owned),
            needed=tuple(trial.dependencies.created),
            moments=tuple(trial.dependencies.moments),
            reads=tuple(trial.reads),
            sent=trial.requests,
            log=tuple(log_of(cluster, await stored((await cluster.server()).store))) if logged else (),
        )
    finally:
        await trial.aclose()
        with suppress(Exception):
            await cluster.aclose()


async def _healed(trial: Trial, cluster: Cluster) -> None:
    """End a fault that still lasts, and let the operator do its work."""
    await trial.heal()
    await cluster.advance(seconds=_CALM_S)
    await cluster.settled()


async def _steps(scenario: Scenario, trial: Trial, system: tuple[Any, ...]) -> tuple[str, str]:
    """Run the steps of the user. Return the error in one line, and whole; both are empty for a success."""
    cluster = trial.cluster
    try:
        async with asyncio.timeout(TRIAL_S_MAX):
            await cluster.settled()
            await scenario.steps(cluster, *system)
            await cluster.settled()
            progress = trial.progress
            await _healed(trial, cluster)
            if trial.progress != progress:
                # The fault has occurred in the calm at the end: the operator needs as much time as after the others.
                await _healed(trial, cluster)
    except TimeoutError:
        return f"the scenario did not end within {TRIAL_S_MAX / 3600:.0f} h of virtual time", ""
    except Exception as failure:
        return error_line(failure), str(failure)
    return "", ""


def _with_system(operator: Any, system: tuple[Any, ...]) -> Any:
    """Return the operator with the external system as its last argument."""
    return (lambda manager: operator(manager, *system)) if system else operator


def _state_of(system: Any) -> Any:
    """Return the state of an external system at the end of a run."""
    state = getattr(system, "state", None)
    if callable(state):
        return state()
    return {name: value for name, value in vars(system).items() if not name.startswith("_")}


def _options_of(scenario: Scenario) -> ManagerOptions:
    """Return the options of the operator's manager."""
    if not scenario.lease:
        return ManagerOptions(graceful_shutdown_timeout_s=1.0, informer_settings=scenario.informers)
    election = LeaderElectionConfig(scenario.lease, "default", OPERATOR)
    return ManagerOptions(
        graceful_shutdown_timeout_s=1.0, leader_election=election, informer_settings=scenario.informers
    )


def _user_of(scenario: Scenario) -> UserInfo:
    """Return the user of the operator: one with the scenario's roles, or one with all rights."""
    return ADMIN if scenario.rbac is None else _USER


def _name_of(scenario: Scenario) -> str:
    """Return the name of that user; "" for all rights."""
    return "" if scenario.rbac is None else _USER.name


async def _grant(cluster: Cluster, roles: Sequence[Mapping[str, Any]]) -> None:
    """Create the roles, and bind each to the operator. A Role is bound in its namespace."""
    for role in roles:
        await cluster.apply(role)
        metadata = {key: each for key, each in role["metadata"].items() if key in ("name", "namespace")}
        binding = {
            "apiVersion": f"{_GROUP}/v1",
            "kind": f"{role['kind']}Binding",
            "metadata": metadata,
            "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": _USER.name}],
            "roleRef": {"apiGroup": _GROUP, "kind": role["kind"], "name": role["metadata"]["name"]},
        }
        await cluster.apply(binding)
