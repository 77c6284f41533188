"""`apply_plan`: carries out a plan, stage by stage, and waits for what a later stage needs."""

from collections.abc import Callable, Sequence
from itertools import groupby

from sampan.client import Client, ClientError, DeleteOptions, NotFound, condition_is, wait_for
from sampan.project.deploying.inventory import kind_of
from sampan.project.deploying.plan import MANAGER, DeployPlan, Removal
from sampan.project.deploying.readiness import wait_until_ready
from sampan.project.deploying.stages import DEPLOYMENT, Stage, stage_of
from sampan.project.deploying.trust import wait_until_trusted
from sampan.project.errors import ProjectError
from sampan.project.object_changes import ObjectChange

_ESTABLISHED_S = 30.0
Report = Callable[[str], None]
"""Receives a line about progress."""


async def apply_plan(client: Client, plan: DeployPlan, report: Report, *, timeout_s: float) -> None:
    """Apply and remove the changes of the plan. An empty plan writes nothing, but waits for readiness too.

    Raises `ProjectError`: a write was refused, which names what was done before; or `NotReady`.
    """
    done = list[str]()
    try:
        for stage, changes in groupby(plan.changes, key=lambda change: stage_of(kind_of(change.desired))):
            if stage is not Stage.NAMESPACES:
                await _apply(client, [plan.record], done, report)  # before the first object that needs removal later
            await _apply(client, list(changes), done, report)
            await _wait(client, plan, stage, report, timeout_s)
        await wait_until_trusted(client, plan.changes, report, timeout_s=timeout_s)
        for removal in plan.removals:
            await _remove(client, removal)
            done.append(removal.title)
            report(f"removed  {removal.title}")
        if plan.removals:
            await client.resource(plan.record.info).apply(plan.final_record, field_manager=MANAGER, force=True)
    except ClientError as error:
        before = f"done before: {', '.join(done)}" if done else "nothing was changed before"
        raise ProjectError(f"{error}; {before}. Run sampan deploy again, or sampan undeploy") from error


async def _apply(client: Client, changes: Sequence[ObjectChange], done: list[str], report: Report) -> None:
    """Apply what changes and is not done yet."""
    for change in changes:
        if not change.diff.changed or change.title in done:
            continue
        resource = client.resource(change.info, namespace=change.namespace)
        # Conflicts were found before; what the user accepted since then is applied as it was shown.
        await resource.apply(change.desired, field_manager=MANAGER, force=change.is_forced)
        done.append(change.title)
        report(f"{'created' if change.stored is None else 'changed'}  {change.title}")


async def _wait(client: Client, plan: DeployPlan, stage: Stage, report: Report, timeout_s: float) -> None:
    """Wait for what the next stage needs."""
    changes = [each for each in plan.changes if stage_of(kind_of(each.desired)) is stage]
    if stage is Stage.DEFINITIONS:
        for change in changes:
            resource = client.resource(change.info)
            await wait_for(resource, change.name, condition_is("Established"), timeout_s=_ESTABLISHED_S)
        client.mapper.invalidate()
    if stage is Stage.WORKLOADS:
        for change in changes:
            if kind_of(change.desired) == DEPLOYMENT:
                await wait_until_ready(client, change.namespace, change.name, report, timeout_s=timeout_s)


async def _remove(client: Client, removal: Removal) -> None:
    """Delete an object unless another one has taken its name."""
    metadata = removal.obj["metadata"]
    resource = client.resource(removal.info, namespace=metadata.get("namespace", ""))
    try:
        await resource.delete(metadata["name"], DeleteOptions(uid=metadata["uid"], propagation_policy="Background"))
    except NotFound:
        return
