"""The controller of PodDisruptionBudgets.

The API server subtracts evictions from the status between two reconciliations. So a status is written only to the
version of the budget that was read. Source: kube-controller-manager pkg/controller/disruption/disruption.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sampan.client import ClientError, Conflict, ListOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import POD_DISRUPTION_BUDGETS
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.disruption import stale_condition
from sampan.controllers.disruption.budget import (
    Disrupted,
    desired_healthy,
    disrupted,
    healthy,
    needs_scale,
    status_after,
    status_of_failure,
)
from sampan.controllers.disruption.expected_scale import NoScale, ScaleFinder
from sampan.controllers.status import write_status
from sampan.core.label_selectors import selector_from_label_selector, selector_text
from sampan.informer.ref import Ref
from sampan.kinds import meta_v1, policy_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import Object, meta

NAME: Final = "disruption-controller"
COMPONENT: Final = "controllermanager"
"""Source component of the events."""


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    controller = DisruptionController(context)
    (
        Builder(context.manager)
        .named(NAME)
        .for_(POD_DISRUPTION_BUDGETS)
        .watches(POD_VIEW, controller.budgets_of)
        .complete(controller)
    )
    stale_condition.set_up(context)


class DisruptionController:
    """Counts the Pods of budgets and computes the evictions they allow."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._recorder = context.recorder(COMPONENT)
        self._budgets = client.resource(POD_DISRUPTION_BUDGETS, namespace="")
        self._lister = context.informer(POD_DISRUPTION_BUDGETS).lister()
        self._pods = client.resource(POD_VIEW, namespace="")
        self._scales = ScaleFinder(context)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one budget. Raises `ApiError`, `TransportError`."""
        budget = await self._budgets.find(request)
        if budget is None:
            return None
        pods = await self._pods_of(budget)
        now = self._clock.now()
        pending = disrupted(budget.get("status") or {}, pods, now)
        status = await self._status(budget, pods, pending)
        try:
            await write_status(self._budgets, budget, status, optimistic_lock=True)
        except Conflict:
            return None  # The event of that change queues the budget again.
        for pod in pending.overdue:
            note = f"Pod was expected by PDB {request.namespace}/{request.name} to be deleted but it wasn't"
            self._recorder.warning(_named(pod), "NotDeleted", note)
        return Result(pending.recheck_s)

    async def _status(
        self, budget: policy_v1.PodDisruptionBudget, pods: Sequence[Pod], pending: Disrupted
    ) -> policy_v1.PodDisruptionBudgetStatus:
        spec = budget.get("spec") or {}
        try:
            expected = await self._expected(budget, pods) if needs_scale(spec) else len(pods)
            desired = desired_healthy(spec, expected)
        except (NoScale, ClientError, ValueError) as error:
            note = f"Failed to calculate the number of expected pods: {error}"
            self._recorder.warning(budget, "CalculateExpectedPodCountFailed", note)
            return status_of_failure(budget, str(error), self._clock)
        return status_after(
            budget,
            expected=expected,
            desired=desired,
            healthy=healthy(pods, pending.pods),
            pending=pending.pods,
            clock=self._clock,
        )

    async def _expected(self, budget: policy_v1.PodDisruptionBudget, pods: Sequence[Pod]) -> int:
        count, unmanaged = await self._scales.expected(pods)
        if unmanaged:
            self._recorder.warning(
                budget,
                "UnmanagedPods",
                f"Pods selected by this PodDisruptionBudget (selector: {selector_text(_selector(budget))}) were found "
                "to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result "
                'in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to '
                "an integer value.",
            )
        return count

    async def _pods_of(self, budget: policy_v1.PodDisruptionBudget) -> Sequence[Pod]:
        selector = selector_from_label_selector(_selector(budget))
        pods: Sequence[Pod] = ()
        if not selector.nothing:
            options = ListOptions(label_selector=str(selector))
            pods = (await self._pods.in_namespace(meta(budget).namespace).list(options)).items
        if not pods:
            self._recorder.normal(budget, "NoPods", "No matching pods found")
        return pods

    def budgets_of(self, ref: Ref[Any]) -> Iterable[Request]:
        """Return the budgets that select a Pod.

        More than one is a mistake, which is recorded as an event on the Pod.
        """
        found = [
            meta(budget)
            for budget in self._lister.namespaced(ref.namespace).list()
            if selector_from_label_selector(_selector(budget)).matches(ref.labels)
        ]
        if len(found) > 1:
            note = f'Pod "{ref.namespace}"/"{ref.name}" matches multiple PodDisruptionBudgets.'
            self._recorder.warning(ref, "MultiplePodDisruptionBudgets", note)
        return [Request(each.namespace, each.name) for each in found]


def _selector(budget: policy_v1.PodDisruptionBudget) -> meta_v1.LabelSelector | None:
    found: meta_v1.LabelSelector | None = (budget.get("spec") or {}).get("selector")
    return found


def _named(pod: Pod) -> Object:
    """Return an object that identifies a Pod in an event."""
    metadata = {"name": pod.metadata.name, "namespace": pod.metadata.namespace, "uid": pod.metadata.uid}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
