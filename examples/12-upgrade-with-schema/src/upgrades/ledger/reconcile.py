"""Controller of ledgers: an upgrade in phases, each of which is stored before its first action.

A new ledger is in the phase Start until its application serves: before that, there may be no file to copy. Then:

Backup -> Drain -> Migrate -> Roll -> Verify -> Done, and from each of the first five to RollBack -> RolledBack.

Guarantees: the old file and version serve until the commit, which is one write of version, file and phase. It succeeds
only if the spec has not changed since it was read. Before it, any failure and any other wish of the user lead back.
"""

import datetime as dt
from typing import Any

from sampan.client import ListOptions, NotFound
from sampan.core.time import format_time, parse_time
from sampan.informer import Ref
from sampan.operator import (
    JOBS,
    Builder,
    Condition,
    JobEnded,
    JobRunner,
    Manager,
    Request,
    Result,
    ensure_controlled,
    patch_condition,
)
from sampan.resource import Object

from upgrades.ledger.v1 import Ledger, LedgerStatus
from upgrades.migration.v1 import Migration
from upgrades.objects import CLAIMS, LEDGER, PODS, SERVICES, STATEFUL_SETS, claim, copy_job, service, stateful_set
from upgrades.plan import IN_PROGRESS, new_file, path, running, transaction

PAUSE = "upgrades.example.com/pause"
NEXT = {"Backup": "Drain", "Migrate": "Roll"}
"""Phase after the success of a Job."""
Step = tuple[dict[str, Any], str]
"""Fields of the status that change, and a message."""


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    client, jobs, events = manager.client, JobRunner(manager), manager.event_recorder("upgrades")
    ledgers = client.resource(Ledger, namespace="")

    async def reconcile(request: Request) -> Result | None:
        """Take a step of an upgrade. It may run at any time, and again after any failure."""
        try:
            # From the server: with an old phase, the application would run with the wrong file.
            ledger = await client.direct.resource(Ledger, namespace=request.namespace).get(request.name)
        except NotFound:
            return None
        if ledger.metadata.deletion_timestamp:
            return None
        is_paused = ledger.metadata.annotations.get(PAUSE) == "true"
        status, fields, message = ledger.status or LedgerStatus(), dict[str, Any](), ""
        if not status.version:  # A new ledger begins with its version.
            await ensure(CLAIMS, ledger, claim(f"ledger-{ledger.metadata.name}", ledger))
            fields = {"version": ledger.spec.version, "file": "ledger-0.db", "phase": "Start"}
        else:
            await ensure(SERVICES, ledger, service(ledger, status.version))
            app = await ensure(STATEFUL_SETS, ledger, stateful_set(ledger, running(status)))
            if is_paused:
                message = f"paused by the annotation {PAUSE}"
            else:
                fields, message = await step(ledger, status, app)
        phase = fields.get("phase", status.phase)
        ready = phase == "Done" and ledger.spec.version == fields.get("version", status.version)
        condition = Condition(type="Ready", status="True" if ready else "False", reason=phase, message=message)
        fields["observedGeneration"] = ledger.metadata.generation
        if await patch_condition(ledgers, ledger, condition, fields, clock=manager.options.clock):
            (events.warning if phase == "RollBack" else events.normal)(ledger, phase, message or phase)
        return Result(requeue_after_s=1.0) if phase in ("Drain", "Verify") and not is_paused else None

    async def ensure(kind: Any, ledger: Ledger, obj: Object) -> Object:
        manager = "" if kind is CLAIMS else "upgrades"
        return await ensure_controlled(client.resource(kind), ledger, obj, field_manager=manager)

    async def step(ledger: Ledger, status: LedgerStatus, app: Object) -> Step:
        """Return the change of the status that the state of the cluster permits."""
        phase, desired = status.phase, ledger.spec.version
        found = app.get("status", {})
        current = found.get("observedGeneration") == app["metadata"]["generation"]
        serves = current and found.get("availableReplicas") == found.get("updatedReplicas") == 1
        if phase in IN_PROGRESS and desired != status.target:
            return {"phase": "RollBack"}, f"version {desired} is wanted now"
        if phase == "Start":
            return ({"phase": "Done"}, "") if serves else ({}, f"version {status.version} has not served yet")
        if phase in NEXT:
            return await copy(ledger, status)
        if phase == "Drain":
            return ({}, "") if not current or await pods(ledger) else ({"phase": "Migrate"}, "")
        if phase == "Roll":  # The new version was applied above.
            return {"phase": "Verify", "since": format_time(manager.options.clock.now())}, ""
        if phase == "Verify":
            if serves:
                return {"phase": "Done", "version": status.target, "file": new_file(status)}, ""
            limit = parse_time(status.since) + dt.timedelta(seconds=ledger.spec.verify_seconds)
            late = manager.options.clock.now() > limit
            return ({"phase": "RollBack"}, f"version {status.target} does not serve") if late else ({}, "")
        if phase == "RollBack":
            return ({"phase": "RolledBack"} if current and found.get("updatedReplicas") == 1 else {}), message_of(
                status
            )
        if desired == status.version:
            return {"phase": "Done"}, ""
        if phase == "RolledBack" and status.generation == ledger.metadata.generation:
            return {}, message_of(status)  # Until the user changes the spec.
        return await begin(ledger, status)

    async def begin(ledger: Ledger, status: LedgerStatus) -> Step:
        found = path(await migrations(ledger), status.version, ledger.spec.version)
        if found is None:
            return {}, f"no migrations lead from version {status.version} to {ledger.spec.version}"
        names = [each.metadata.name for each in found]
        plan = {"target": ledger.spec.version, "path": names, "generation": ledger.metadata.generation}
        return {"phase": "Backup", "attempt": status.attempt + 1, **plan}, ", ".join(names)

    async def copy(ledger: Ledger, status: LedgerStatus) -> Step:
        """Run the Job of a phase: a copy for the backup, or one with the migrations."""
        backup, sql, new = f"backup-{status.attempt}.db", "", new_file(status)
        if status.phase == "Migrate":
            steps = {each.metadata.name: each for each in await migrations(ledger)}
            if not steps.keys() >= set(status.path):
                return {"phase": "RollBack"}, "a migration was deleted"
            sql = transaction([steps[name] for name in status.path], status.target)
        name = f"{ledger.metadata.name}-{status.phase.lower()}-{status.attempt}"
        files = {"OLD": status.file, "NEW": new if sql else backup, "KEPT": backup}
        outcome = await jobs.run(ledger, copy_job(name, ledger, status.target, SQL=sql, **files))
        if outcome is None:
            return {}, ""
        if not outcome.succeeded:
            return {"phase": "RollBack"}, f"{status.phase} has failed: {outcome.message[-500:]}"
        return {"phase": NEXT[status.phase]}, ""

    async def migrations(ledger: Ledger) -> list[Migration]:
        found = await client.direct.resource(Migration, namespace=ledger.metadata.namespace).list_all()
        return [each for each in found if each.spec.ledger_ref == ledger.metadata.name]

    async def pods(ledger: Ledger) -> list[Object]:
        options = ListOptions(label_selector=f"{LEDGER}={ledger.metadata.name}")
        return (await client.direct.resource(PODS, namespace=ledger.metadata.namespace).list(options)).items

    def of_migration(changed: Ref[Migration]) -> list[Request]:
        return [Request(changed.namespace, changed.decode().spec.ledger_ref)]

    builder = Builder(manager).for_(Ledger).owns(STATEFUL_SETS).owns(SERVICES).owns(JOBS, predicates=[JobEnded()])
    for kind in (STATEFUL_SETS, SERVICES):
        builder.writes(kind, "create", "patch")
    manager.declare_reads(CLAIMS, "get")
    builder.writes(CLAIMS, "create").watches(Migration, of_migration).complete(reconcile)


def message_of(status: LedgerStatus) -> str:
    """Return the message of the condition: the reason of a way back stays until the end."""
    return next((each.message for each in status.conditions if each.type == "Ready"), "")
