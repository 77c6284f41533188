"""The controller of HorizontalPodAutoscalers, each reconciled every 15 seconds.

Concurrency: the manager runs the controller; each autoscaler is reconciled by one worker at a time.
Source: kubernetes pkg/controller/podautoscaler/horizontal.go (1.36).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from sampan.client import ApiError, ClientError, Conflict, Scale
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import HORIZONTAL_POD_AUTOSCALERS
from sampan.component_base.views import POD_VIEW
from sampan.controllers.horizontal_pod_autoscaler.limits import Proposal, ScalingHistory, limit
from sampan.controllers.horizontal_pod_autoscaler.measure import CombinedMetrics, ScaleTarget, measure_all
from sampan.controllers.horizontal_pod_autoscaler.metrics import Metrics
from sampan.controllers.horizontal_pod_autoscaler.pods import ScaledPod, decode_pod
from sampan.controllers.horizontal_pod_autoscaler.replicas import Calculation, Tolerances
from sampan.controllers.status import remove_status_condition, set_counts, set_status_condition, status_of, write_status
from sampan.core.numbers.quantity import parse
from sampan.core.selectors import Selector, parse_labels
from sampan.core.time import timestamp
from sampan.informer.ref import Ref
from sampan.kinds import autoscaling_v2
from sampan.operator.builder import Builder
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request, Result
from sampan.resource.view import view_decoder

NAME: Final = "horizontal-pod-autoscaler-controller"
COMPONENT: Final = "horizontal-pod-autoscaler"
"""Source component of the events."""
SYNC_PERIOD_S: Final = 15.0
WORKERS: Final = 5
_TRIES_MAX: Final = 5
_ABLE: Final = "AbleToScale"
_ACTIVE: Final = "ScalingActive"
_LIMITED: Final = "ScalingLimited"
_ZERO: Final = "ScaledToZero"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    controller = HorizontalController(context)
    builder = Builder(context.manager).named(NAME)
    builder.for_(HORIZONTAL_POD_AUTOSCALERS, predicates=[PredicateFuncs(on_update=_spec_changed)])
    builder.with_options(max_concurrent_reconciles=WORKERS).complete(controller)


class _Read(msgspec.Struct):
    spec: msgspec.Raw = msgspec.Raw()


_read = view_decoder(_Read)


def _spec_changed(old: Ref[Any], new: Ref[Any]) -> bool:
    """Return True if the spec has changed, or for a resync.

    The controller's own status updates must not trigger a reconciliation outside the sync period.
    """
    return old is new or old.uid != new.uid or _read(old.raw) != _read(new.raw)


class _Failed(Exception):
    """The autoscaler cannot scale now. The reason is already in its conditions."""


@dataclass(slots=True)
class _Reconciliation:
    """One reconciliation of an autoscaler, with the status it computes."""

    hpa: autoscaling_v2.HorizontalPodAutoscaler
    status: autoscaling_v2.HorizontalPodAutoscalerStatus
    current: int = 0
    desired: int = 0
    reason: str = ""
    """Reason for scaling, for events."""

    @property
    def spec(self) -> autoscaling_v2.HorizontalPodAutoscalerSpec:
        spec: autoscaling_v2.HorizontalPodAutoscalerSpec = self.hpa["spec"]
        return spec

    @property
    def minimum(self) -> int:
        found = self.spec.get("minReplicas")
        return 1 if found is None else int(found)


class HorizontalController:
    """Scales the targets of autoscalers."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._recorder = context.recorder(COMPONENT)
        self._direct = client.direct
        self._hpas = client.resource(HORIZONTAL_POD_AUTOSCALERS, namespace="")
        self._pods = context.informer(POD_VIEW).lister()
        self._metrics = Metrics(client.direct)
        self._histories: dict[str, ScalingHistory] = {}
        self._selectors: dict[str, Selector] = {}
        """Selector of each autoscaler's target, by the autoscaler's key. It serves to find overlapping autoscalers."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one autoscaler. Raises `ApiError`, `TransportError`."""
        hpa = await self._hpas.find(request)
        if hpa is None:
            self._histories.pop(request.key, None)
            self._selectors.pop(request.key, None)
            return None
        run = _Reconciliation(hpa, status_of(hpa))
        try:
            await self._scale(run, request)
        except _Failed:
            set_counts(run.status, {"currentReplicas": run.current})
            run.status.setdefault("desiredReplicas", 0)
        try:
            await write_status(self._hpas, hpa, run.status)
        except ApiError as error:
            self._recorder.warning(hpa, "FailedUpdateStatus", str(error))
            raise
        return Result(SYNC_PERIOD_S)

    async def _scale(self, run: _Reconciliation, request: Request) -> None:
        """Compute the desired number of replicas and scale the target. Raises `_Failed`."""
        target = run.spec["scaleTargetRef"]
        try:
            kind = (target.get("apiVersion", ""), target["kind"])
            client = await self._direct.resource_for(kind, namespace=request.namespace)
            scale = await client.scale.get(target["name"])
        except ClientError as error:
            self._recorder.warning(run.hpa, "FailedGetScale", str(error))
            text = f"the HPA controller was unable to get the target's current scale: {error}"
            self._condition(run, _ABLE, "False", ("FailedGetScale", text))
            raise _Failed from error
        text = "the HPA controller was able to get the target's current scale"
        self._condition(run, _ABLE, "True", ("SucceededGetScale", text))
        run.current = run.desired = scale.spec.replicas
        history = self._histories.setdefault(request.key, ScalingHistory())
        if not history.recommendations:
            history.recommend(run.current, self._clock.now())
        found: list[autoscaling_v2.MetricStatus] = await self._decide(run, scale, history, request)
        if run.desired != run.current:
            await self._rescale(run, client, scale, found)
            history.changed(run.current, run.desired, run.spec.get("behavior"), self._clock.now())
            run.status["lastScaleTime"] = timestamp(self._clock)
        remove_status_condition(run.status, _ZERO)
        self._write_metrics(run, found)
        run.status["desiredReplicas"] = run.desired

    async def _decide(
        self, run: _Reconciliation, scale: Scale, history: ScalingHistory, request: Request
    ) -> list[autoscaling_v2.MetricStatus]:
        """Compute the desired number of replicas; return the measured metrics. Raises `_Failed`."""
        maximum = run.spec["maxReplicas"]
        if run.current == 0:
            text = "scaling is disabled since the replica count of the target is zero"
            self._condition(run, _ACTIVE, "False", ("ScalingDisabled", text))
        elif run.current > maximum:
            run.desired, run.reason = maximum, "Current number of replicas above Spec.MaxReplicas"
        elif run.current < run.minimum:
            run.desired, run.reason = run.minimum, "Current number of replicas below Spec.MinReplicas"
        else:
            measured = await self._measure(run, scale, request)
            self._limit(run, measured, history)
            return measured.statuses
        return []

    async def _measure(self, run: _Reconciliation, scale: Scale, request: Request) -> CombinedMetrics:
        pods = self._pods_of(run, scale, request)
        calculation = Calculation(run.current, _tolerances(run.spec), pods, self._clock.now())
        target = ScaleTarget(request.namespace, scale.status.selector, scale.status.replicas, calculation)
        measured = await measure_all(self._metrics, target, run.spec.get("metrics") or [])
        for reason, text in measured.failures:
            self._recorder.warning(run.hpa, reason, text)
        if not measured.counts_for(run.current):
            reason, text = measured.failures[0]
            text = f"the HPA was unable to compute the replica count: {text}"
            self._condition(run, _ACTIVE, "False", (reason, text))
            self._recorder.warning(run.hpa, "FailedComputeMetricsReplicas", measured.complaint)
            self._write_metrics(run, measured.statuses)
            raise _Failed
        text = f"the HPA was able to successfully calculate a replica count from {measured.metric}"
        self._condition(run, _ACTIVE, "True", ("ValidMetricFound", text))
        return measured

    def _limit(self, run: _Reconciliation, measured: CombinedMetrics, history: ScalingHistory) -> None:
        if measured.replicas > run.current:
            run.reason = f"{measured.metric} above target"
        elif measured.replicas < run.current:
            run.reason = "All metrics below target"
        behavior = run.spec.get("behavior")
        now, maximum = self._clock.now(), run.spec["maxReplicas"]
        proposal = Proposal(run.current, measured.replicas, run.minimum, maximum, behavior, now)
        limited = limit(proposal, history)
        self._condition(run, _ABLE, "True", limited.able)
        self._condition(run, _LIMITED, "True" if limited.limited else "False", limited.limit)
        run.desired = limited.replicas

    async def _rescale(
        self, run: _Reconciliation, client: Any, scale: Scale, found: list[autoscaling_v2.MetricStatus]
    ) -> None:
        """Scale the target to the desired number of replicas, with retries on conflict. Raises `_Failed`."""
        name = run.spec["scaleTargetRef"]["name"]
        try:
            for left in reversed(range(_TRIES_MAX)):
                scale.spec.replicas = run.desired
                try:
                    await client.scale.update(name, scale)
                    break
                except Conflict:
                    if not left:
                        raise
                    scale = await client.scale.get(name)
        except ClientError as error:
            note = f"New size: {run.desired}; reason: {run.reason}; error: {error}"
            self._recorder.warning(run.hpa, "FailedRescale", note)
            text = f"the HPA controller was unable to update the target scale: {error}"
            self._condition(run, _ABLE, "False", ("FailedUpdateScale", text))
            self._write_metrics(run, found)
            raise _Failed from error
        text = f"the HPA controller was able to update the target scale to {run.desired}"
        self._condition(run, _ABLE, "True", ("SucceededRescale", text))
        self._recorder.normal(run.hpa, "SuccessfulRescale", f"New size: {run.desired}; reason: {run.reason}")

    def _pods_of(self, run: _Reconciliation, scale: Scale, request: Request) -> list[ScaledPod]:
        """Return the Pods that the scale selects. Raises `_Failed`, also if another autoscaler selects them too."""
        text = scale.status.selector
        if not text:
            self._recorder.warning(run.hpa, "SelectorRequired", "selector is required")
            message = "the HPA target's scale is missing a selector"
            self._condition(run, _ACTIVE, "False", ("InvalidSelector", message))
            raise _Failed
        try:
            selector = parse_labels(text)
        except ValueError as error:
            message = f"couldn't convert selector into a corresponding internal selector object: {error}"
            self._recorder.warning(run.hpa, "InvalidSelector", message)
            self._condition(run, _ACTIVE, "False", ("InvalidSelector", message))
            raise _Failed from error
        self._selectors[request.key] = selector
        refs = self._pods.namespaced(request.namespace).refs(selector)
        prefix = f"{request.namespace}/"
        others = [
            key
            for key, other in self._selectors.items()
            if key.startswith(prefix) and any(other.matches(ref.labels) for ref in refs)
        ]
        if len(others) > 1:
            message = f"pods by selector {text} are controlled by multiple HPAs: [{' '.join(sorted(others))}]"
            self._recorder.warning(run.hpa, "AmbiguousSelector", message)
            self._condition(run, _ACTIVE, "False", ("AmbiguousSelector", message))
            raise _Failed
        return [decode_pod(ref.raw) for ref in refs]

    def _write_metrics(self, run: _Reconciliation, metrics: list[autoscaling_v2.MetricStatus]) -> None:
        """Write the current replicas and metrics to the status."""
        set_counts(run.status, {"currentReplicas": run.current})
        # Kubernetes writes null if there are none.
        run.status["currentMetrics"] = metrics or None  # type: ignore[typeddict-item]

    def _condition(self, run: _Reconciliation, type: str, status: str, text: tuple[str, str]) -> None:
        condition = {"type": type, "status": status, "reason": text[0], "message": text[1]}
        set_status_condition(run.status, condition, self._clock)


def _tolerances(spec: autoscaling_v2.HorizontalPodAutoscalerSpec) -> Tolerances:
    behavior = spec.get("behavior") or {}
    down, up = behavior.get("scaleDown") or {}, behavior.get("scaleUp") or {}
    tolerances = {
        side: _share(rules["tolerance"])
        for side, rules in (("down", down), ("up", up))
        if rules.get("tolerance") is not None
    }
    return Tolerances(**tolerances)


def _share(quantity: Any) -> float:
    return parse(str(quantity)).scaled_value(-9) / 1e9
