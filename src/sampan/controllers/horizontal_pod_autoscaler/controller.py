"""The loop over HorizontalPodAutoscalers: looks at each every 15 seconds.

Concurrency: the manager runs the controller; one autoscaler is looked at by one worker at a time.
Source: kubernetes pkg/controller/podautoscaler/horizontal.go (1.36).
"""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from sampan.client import ApiError, ClientError, Conflict, Scale
from sampan.controllers.horizontal_pod_autoscaler.limits import Past, Wanted, limit
from sampan.controllers.horizontal_pod_autoscaler.measure import Measured, Target, measure_all
from sampan.controllers.horizontal_pod_autoscaler.metrics import Metrics
from sampan.controllers.horizontal_pod_autoscaler.pods import ScaledPod, decode_pod
from sampan.controllers.horizontal_pod_autoscaler.replicas import Calculation, Tolerances
from sampan.controllers.status import remove_status_condition, set_status_condition, status_of, write_status
from sampan.core.quantity import parse
from sampan.core.selectors import Selector, parse_labels
from sampan.core.time import timestamp
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import HORIZONTAL_POD_AUTOSCALERS
from sampan.loops.views import POD_VIEW
from sampan.operator.builder import Builder
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request, Result
from sampan.resource import Object

NAME: Final = "horizontal-pod-autoscaler-controller"
COMPONENT: Final = "horizontal-pod-autoscaler"
"""Who events are from."""
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
    builder.for_(HORIZONTAL_POD_AUTOSCALERS, predicates=[PredicateFuncs(on_update=_is_otherwise)])
    builder.with_options(max_concurrent_reconciles=WORKERS).complete(controller)


class _Wanted(msgspec.Struct):
    spec: msgspec.Raw = msgspec.Raw()


_wanted = msgspec.json.Decoder(_Wanted)


def _is_otherwise(old: Ref[Any], new: Ref[Any]) -> bool:
    """Whether something else is wanted. What is written here does not call for another look: that has its time."""
    return old is new or old.uid != new.uid or _wanted.decode(old.raw) != _wanted.decode(new.raw)


class _Failed(Exception):
    """An autoscaler can do nothing now. What is wrong is in its conditions already."""


@dataclass(slots=True)
class _Look:
    """Reconcile one autoscaler, and the status that comes of it."""

    hpa: Object
    status: Object
    current: int = 0
    desired: int = 0
    reason: str = ""
    """Why the target is scaled."""

    @property
    def spec(self) -> Object:
        spec: Object = self.hpa["spec"]
        return spec

    @property
    def minimum(self) -> int:
        found = self.spec.get("minReplicas")
        return 1 if found is None else int(found)


class HorizontalController:
    """Scales what autoscalers name."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._recorder = context.recorder(COMPONENT)
        self._direct = client.direct
        self._hpas = client.resource(HORIZONTAL_POD_AUTOSCALERS, namespace="")
        self._pods = context.informer(POD_VIEW).lister()
        self._metrics = Metrics(client.direct)
        self._past: dict[str, Past] = {}
        self._selectors: dict[str, Selector] = {}
        """What each autoscaler's target selects."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one autoscaler. Raises `ApiError`, `TransportError`."""
        hpa = await self._hpas.find(request)
        if hpa is None:
            self._past.pop(request.key, None)
            self._selectors.pop(request.key, None)
            return None
        look = _Look(hpa, status_of(hpa))
        try:
            await self._look(look, request)
        except _Failed:
            look.status["currentReplicas"] = look.current
            look.status.setdefault("desiredReplicas", 0)
        try:
            await write_status(self._hpas, hpa, look.status)
        except ApiError as error:
            self._recorder.warning(hpa, "FailedUpdateStatus", str(error))
            raise
        return Result(SYNC_PERIOD_S)

    async def _look(self, look: _Look, request: Request) -> None:
        """Find out how many replicas are to be, and have them. Raises `_Failed`."""
        target = look.spec["scaleTargetRef"]
        try:
            what = (target.get("apiVersion", ""), target["kind"])
            client = await self._direct.resource_for(what, namespace=request.namespace)
            scale = await client.scale.get(target["name"])
        except ClientError as error:
            self._recorder.warning(look.hpa, "FailedGetScale", str(error))
            text = f"the HPA controller was unable to get the target's current scale: {error}"
            self._condition(look, _ABLE, "False", ("FailedGetScale", text))
            raise _Failed from error
        text = "the HPA controller was able to get the target's current scale"
        self._condition(look, _ABLE, "True", ("SucceededGetScale", text))
        look.current = look.desired = scale.spec.replicas
        past = self._past.setdefault(request.key, Past())
        if not past.recommendations:
            past.recommend(look.current, self._clock.now())
        found: list[Object] = await self._decide(look, scale, past, request)
        if look.desired != look.current:
            await self._rescale(look, client, scale, found)
            past.changed(look.current, look.desired, look.spec.get("behavior"), self._clock.now())
            look.status["lastScaleTime"] = timestamp(self._clock)
        remove_status_condition(look.status, _ZERO)
        self._tell(look, found)
        look.status["desiredReplicas"] = look.desired

    async def _decide(self, look: _Look, scale: Scale, past: Past, request: Request) -> list[Object]:
        """Set the wanted number of replicas; gives what was measured. Raises `_Failed`."""
        maximum = look.spec["maxReplicas"]
        if look.current == 0:
            text = "scaling is disabled since the replica count of the target is zero"
            self._condition(look, _ACTIVE, "False", ("ScalingDisabled", text))
        elif look.current > maximum:
            look.desired, look.reason = maximum, "Current number of replicas above Spec.MaxReplicas"
        elif look.current < look.minimum:
            look.desired, look.reason = look.minimum, "Current number of replicas below Spec.MinReplicas"
        else:
            measured = await self._measure(look, scale, request)
            self._limit(look, measured, past)
            return measured.statuses
        return []

    async def _measure(self, look: _Look, scale: Scale, request: Request) -> Measured:
        pods = self._pods_of(look, scale, request)
        calculation = Calculation(look.current, _tolerances(look.spec), pods, self._clock.now())
        target = Target(request.namespace, scale.status.selector, scale.status.replicas, calculation)
        measured = await measure_all(self._metrics, target, look.spec.get("metrics") or [])
        for reason, text in measured.failures:
            self._recorder.warning(look.hpa, reason, text)
        if not measured.counts_for(look.current):
            reason, text = measured.failures[0]
            text = f"the HPA was unable to compute the replica count: {text}"
            self._condition(look, _ACTIVE, "False", (reason, text))
            self._recorder.warning(look.hpa, "FailedComputeMetricsReplicas", measured.complaint)
            self._tell(look, measured.statuses)
            raise _Failed
        text = f"the HPA was able to successfully calculate a replica count from {measured.metric}"
        self._condition(look, _ACTIVE, "True", ("ValidMetricFound", text))
        return measured

    def _limit(self, look: _Look, measured: Measured, past: Past) -> None:
        if measured.replicas > look.current:
            look.reason = f"{measured.metric} above target"
        elif measured.replicas < look.current:
            look.reason = "All metrics below target"
        behavior = look.spec.get("behavior")
        now, maximum = self._clock.now(), look.spec["maxReplicas"]
        wanted = Wanted(look.current, measured.replicas, look.minimum, maximum, behavior, now)
        limited = limit(wanted, past)
        self._condition(look, _ABLE, "True", limited.able)
        self._condition(look, _LIMITED, "True" if limited.limited else "False", limited.limit)
        look.desired = limited.replicas

    async def _rescale(self, look: _Look, client: Any, scale: Scale, found: list[Object]) -> None:
        """Have the wanted number of replicas. Raises `_Failed`."""
        name = look.spec["scaleTargetRef"]["name"]
        try:
            for left in reversed(range(_TRIES_MAX)):
                scale.spec.replicas = look.desired
                try:
                    await client.scale.update(name, scale)
                    break
                except Conflict:
                    if not left:
                        raise
                    scale = await client.scale.get(name)
        except ClientError as error:
            note = f"New size: {look.desired}; reason: {look.reason}; error: {error}"
            self._recorder.warning(look.hpa, "FailedRescale", note)
            text = f"the HPA controller was unable to update the target scale: {error}"
            self._condition(look, _ABLE, "False", ("FailedUpdateScale", text))
            self._tell(look, found)
            raise _Failed from error
        text = f"the HPA controller was able to update the target scale to {look.desired}"
        self._condition(look, _ABLE, "True", ("SucceededRescale", text))
        self._recorder.normal(look.hpa, "SuccessfulRescale", f"New size: {look.desired}; reason: {look.reason}")

    def _pods_of(self, look: _Look, scale: Scale, request: Request) -> list[ScaledPod]:
        """The Pods that the scale selects, if no other autoscaler has them too. Raises `_Failed`."""
        text = scale.status.selector
        if not text:
            self._recorder.warning(look.hpa, "SelectorRequired", "selector is required")
            message = "the HPA target's scale is missing a selector"
            self._condition(look, _ACTIVE, "False", ("InvalidSelector", message))
            raise _Failed
        try:
            selector = parse_labels(text)
        except ValueError as error:
            message = f"couldn't convert selector into a corresponding internal selector object: {error}"
            self._recorder.warning(look.hpa, "InvalidSelector", message)
            self._condition(look, _ACTIVE, "False", ("InvalidSelector", message))
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
            self._recorder.warning(look.hpa, "AmbiguousSelector", message)
            self._condition(look, _ACTIVE, "False", ("AmbiguousSelector", message))
            raise _Failed
        return [decode_pod(ref.raw) for ref in refs]

    def _tell(self, look: _Look, metrics: list[Object]) -> None:
        """What was seen, into the status."""
        look.status["currentReplicas"] = look.current
        look.status["currentMetrics"] = metrics or None

    def _condition(self, look: _Look, type: str, status: str, said: tuple[str, str]) -> None:
        condition = {"type": type, "status": status, "reason": said[0], "message": said[1]}
        set_status_condition(look.status, condition, self._clock)


def _tolerances(spec: Object) -> Tolerances:
    behavior = spec.get("behavior") or {}
    said = {
        side: _share(behavior[name]["tolerance"])
        for side, name in (("down", "scaleDown"), ("up", "scaleUp"))
        if (behavior.get(name) or {}).get("tolerance") is not None
    }
    return Tolerances(**said)


def _share(quantity: Any) -> float:
    return parse(str(quantity)).scaled_value(-9) / 1e9
