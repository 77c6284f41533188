"""Images that cannot be pulled, in virtual time."""

import asyncio

import pytest

from sampan.node.pods.images import ERROR_SHOWN_S, ImageManager, is_unreachable
from sampan.testing.time.virtual_time import virtual_time
from tests.node.scripted import LoopClock, RecordedEvents, ScriptedRuntime, detailed


@virtual_time
async def test_failed_pulls_back_off() -> None:
    events, runtime, pod = RecordedEvents(), ScriptedRuntime(), detailed({})
    images = ImageManager(events, LoopClock())  # type: ignore[arg-type]  # a fake
    runtime.missing_images = {"app:1": "ErrImagePull"}
    container = pod.spec.containers[0]
    waits = []
    for _ in range(7):
        waiting = await images.ensure(runtime, pod, container)
        assert waiting is not None
        assert (waiting.reason, waiting.message) == ("ErrImagePull", "app:1 is not there")
        assert images.wake_s("uid-1") == ERROR_SHOWN_S
        again = await images.ensure(runtime, pod, container)
        assert again is not None
        text = 'Back-off pulling image "app:1": ErrImagePull: app:1 is not there'
        assert (again.reason, again.message) == ("ImagePullBackOff", text)
        wait_s = images.wake_s("uid-1") or 0.0
        waits.append(round(wait_s))
        await asyncio.sleep(wait_s + 0.001)
    assert waits == [10, 20, 40, 80, 160, 300, 300]
    assert events.reasons()[:5] == ["Pulling", "Failed", "Failed", "BackOff", "Failed"]
    runtime.missing_images = {}
    assert await images.ensure(runtime, pod, container) is None
    assert events.recorded[-1][2] == 'Container image "app:1" already present on machine'


@virtual_time
async def test_policy_never_fails_without_a_backoff() -> None:
    events, runtime, pod = RecordedEvents(), ScriptedRuntime(), detailed({"imagePullPolicy": "Never"})
    images = ImageManager(events, LoopClock())  # type: ignore[arg-type]  # a fake
    runtime.missing_images = {"app:1": "ErrImagePull"}
    for _ in range(2):
        waiting = await images.ensure(runtime, pod, pod.spec.containers[0])
        assert waiting is not None
        assert waiting.reason == "ErrImageNeverPull"
    assert events.reasons() == ["ErrImageNeverPull", "Failed"] * 2


@virtual_time
async def test_simulated_nodes_report_only_images_that_failed() -> None:
    events, runtime, pod = RecordedEvents(), ScriptedRuntime(), detailed({"imagePullPolicy": "Always"})
    images = ImageManager(events, LoopClock(), failures_only=True)  # type: ignore[arg-type]  # a fake
    container = pod.spec.containers[0]
    assert await images.ensure(runtime, pod, container) is None
    assert events.recorded == []
    runtime.missing_images = {"app:1": "ErrImagePull"}
    assert await images.ensure(runtime, pod, container) is not None
    await asyncio.sleep(10.001)
    runtime.missing_images = {}
    assert await images.ensure(runtime, pod, container) is None
    assert events.reasons() == ["Pulling", "Failed", "Failed", "Pulled"]


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("invalid.registry.k8s.io/invalid/alpine:3.1", True),
        ("registry.invalid:5000/app", True),
        ("registry.k8s.io/invalid.app:1", False),
        ("invalid.app:1", False),
        ("app", False),
    ],
)
def test_registries_that_cannot_exist(image: str, expected: bool) -> None:
    assert is_unreachable(image) == expected
