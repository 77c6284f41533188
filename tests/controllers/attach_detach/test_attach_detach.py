"""Tests of the attach-detach controller on a server, with the test as scheduler, kubelet and attacher."""

from sampan.client import DeleteOptions
from sampan.component_base.resources import (
    CSI_DRIVERS,
    NODES,
    PODS,
    VOLUME_ATTACHMENTS,
)
from sampan.controllers import attach_detach
from sampan.csi.names import attachment_name
from sampan.resource import meta
from tests.client.connected import connected
from tests.controllers.attach_detach.volumes import (
    DRIVER,
    attached,
    attachment_on,
    bound_claim,
    end_pod,
    lists_none,
    lists_volume,
    node,
    node_status,
    pod_on,
    stays,
)
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster, working


async def test_a_volume_is_attached_to_the_node_of_its_pod() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c)
        await pod_on(c, "n")
        found = await attached(c, "n")
        assert found["spec"] == {"attacher": DRIVER, "nodeName": "n", "source": {"persistentVolumeName": "v"}}
        await c.until(NODES, "n", lists_volume)
        [event] = await c.events("SuccessfulAttachVolume")
        assert event["message"] == 'AttachVolume.Attach succeeded for volume "v" '
        assert event["involvedObject"]["name"] == "p"


async def test_the_claim_of_an_ephemeral_volume_is_attached_too() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c, name="p-data")
        template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
        volumes = [{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}]
        spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n", "volumes": volumes}
        await c.create(PODS, {"metadata": {"name": "p"}, "spec": spec})
        await attached(c, "n")
        await end_pod(c)
        await c.until_gone(VOLUME_ATTACHMENTS, attachment_on("n"))


async def test_a_pod_that_is_not_scheduled_needs_no_attachment() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c)
        await pod_on(c, "", "waits")
        await pod_on(c, "n", "runs")
        await attached(c, "n")
        assert len(await c.all(VOLUME_ATTACHMENTS)) == 1


async def test_an_attachment_of_another_program_is_left_alone() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c)
        spec = {"attacher": DRIVER, "nodeName": "n", "source": {"persistentVolumeName": "v"}}
        other = await c.create(VOLUME_ATTACHMENTS, {"metadata": {"name": "mine"}, "spec": spec})
        await pod_on(c, "n")
        await attached(c, "n")
        await end_pod(c)
        await c.until_gone(VOLUME_ATTACHMENTS, attachment_on("n"))
        assert stays(other)(await c.get(VOLUME_ATTACHMENTS, "mine"))


async def test_a_volume_is_not_listed_before_it_is_attached() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c)
        await pod_on(c, "n")
        await c.until(VOLUME_ATTACHMENTS, attachment_on("n"), lambda _: True)
        assert lists_none(await c.get(NODES, "n"))


async def test_a_driver_without_attachment_gets_none() -> None:
    async with cluster(attach_detach.set_up) as c:
        await c.create(CSI_DRIVERS, {"metadata": {"name": DRIVER}, "spec": {"attachRequired": False}})
        await c.create(CSI_DRIVERS, {"metadata": {"name": "other"}, "spec": {"attachRequired": True}})
        await node(c, "n")
        await bound_claim(c)
        await pod_on(c, "n")
        await bound_claim(c, name="later", volume="w", driver="other")
        await pod_on(c, "n", "marker", "later")
        await c.until(VOLUME_ATTACHMENTS, attachment_name("other", "h", "n"), lambda _: True)
        assert not await c.exists(VOLUME_ATTACHMENTS, attachment_on("n"))
        await c.delete(CSI_DRIVERS, DRIVER)
        await c.until(VOLUME_ATTACHMENTS, attachment_on("n"), lambda _: True)


async def test_an_error_of_the_attacher_is_an_event_of_the_pod() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c)
        await pod_on(c, "n")
        await c.until(VOLUME_ATTACHMENTS, attachment_on("n"), lambda _: True)
        error = {"time": "2026-01-01T00:00:00Z", "message": "rpc error: code = Internal desc = broken"}
        await c.patch_status(VOLUME_ATTACHMENTS, attachment_on("n"), {"attached": False, "attachError": error})
        [event] = await c.events("FailedAttachVolume")
        assert event["message"] == f'AttachVolume.Attach failed for volume "v" : {error["message"]}'


async def test_a_volume_is_detached_after_its_pod_has_ended() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c)
        await pod_on(c, "n")
        await attached(c, "n")
        await c.until(NODES, "n", lists_volume)
        await end_pod(c)
        await c.until_gone(VOLUME_ATTACHMENTS, attachment_on("n"))
        await c.until(NODES, "n", lists_none)


async def test_a_volume_in_use_stays_attached_until_it_is_unmounted() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n", in_use=True)
        await bound_claim(c)
        await pod_on(c, "n")
        found = await attached(c, "n")
        await c.client.resource(PODS).delete("p", DeleteOptions(grace_period_seconds=0))
        await c.until_gone(PODS, "p")
        await node_status(c, "n", in_use=True, ready=False)
        await c.until(NODES, "n", lists_volume)
        assert stays(found)(await c.get(VOLUME_ATTACHMENTS, attachment_on("n")))
        await node_status(c, "n")
        await c.until_gone(VOLUME_ATTACHMENTS, attachment_on("n"))


async def test_an_unhealthy_node_loses_a_mounted_volume_after_six_minutes() -> None:
    clock = SetClock()
    async with cluster(attach_detach.set_up, clock=clock) as c:
        await node(c, "n", in_use=True, ready=False)
        await bound_claim(c)
        await pod_on(c, "n")
        await attached(c, "n")
        await end_pod(c)
        for _ in range(5):
            await pass_time(c, clock, 60.0)
        assert await c.exists(VOLUME_ATTACHMENTS, attachment_on("n"))
        while await c.exists(VOLUME_ATTACHMENTS, attachment_on("n")):
            await pass_time(c, clock)


async def test_a_healthy_node_keeps_a_mounted_volume() -> None:
    clock = SetClock()
    async with cluster(attach_detach.set_up, clock=clock) as c:
        await node(c, "n", in_use=True)
        await bound_claim(c)
        await pod_on(c, "n")
        found = await attached(c, "n")
        await end_pod(c)
        for _ in range(5):
            await pass_time(c, clock)
        assert stays(found)(await c.get(VOLUME_ATTACHMENTS, attachment_on("n")))


async def pass_time(c: Working, clock: SetClock, seconds: float = 361.0) -> None:
    """Let time pass, and change the node so that its volumes are checked."""
    clock.forward(seconds)
    await c.patch(NODES, "n", {"metadata": {"labels": {"time": str(int(clock.now().timestamp()))}}})


async def test_an_out_of_service_node_loses_a_mounted_volume_at_once() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n", in_use=True, ready=False)
        await bound_claim(c)
        await pod_on(c, "n")
        await attached(c, "n")
        await end_pod(c)
        taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
        await c.patch(NODES, "n", {"spec": {"taints": [taint]}})
        await c.until_gone(VOLUME_ATTACHMENTS, attachment_on("n"))


async def test_an_exclusive_volume_is_not_attached_to_a_second_node() -> None:
    async with cluster(attach_detach.set_up) as c:
        for name in ("n", "m"):
            await node(c, name)
        await bound_claim(c)
        await pod_on(c, "n", "first")
        await attached(c, "n")
        await pod_on(c, "m", "second")
        [event] = await c.events("FailedAttachVolume")
        assert event["message"] == 'Multi-Attach error for volume "v" Volume is already used by pod(s) first'
        assert event["involvedObject"]["name"] == "second"
        await end_pod(c, "first")
        await attached(c, "m")
        await c.until(NODES, "m", lists_volume)
        await c.until_gone(VOLUME_ATTACHMENTS, attachment_on("n"))


async def test_a_shared_volume_is_attached_to_all_nodes() -> None:
    async with cluster(attach_detach.set_up) as c:
        await bound_claim(c, "ReadWriteMany")
        for name in ("n", "m"):
            await node(c, name)
            await pod_on(c, name, f"p-{name}")
            await attached(c, name)
            await c.until(NODES, name, lists_volume)


async def test_a_deleted_attachment_is_made_again() -> None:
    async with cluster(attach_detach.set_up) as c:
        await node(c, "n")
        await bound_claim(c)
        await pod_on(c, "n")
        first = await attached(c, "n")
        await c.delete(VOLUME_ATTACHMENTS, attachment_on("n"))
        await c.until(VOLUME_ATTACHMENTS, attachment_on("n"), lambda found: meta(found).uid != meta(first).uid)


async def test_a_restarted_controller_detaches_what_was_left() -> None:
    async with connected() as (client, _):
        async with working(client, attach_detach.set_up) as c:
            await node(c, "n")
            await bound_claim(c)
            await pod_on(c, "n")
            await attached(c, "n")
            await c.until(NODES, "n", lists_volume)
        await end_pod(c)
        async with working(client, attach_detach.set_up) as c:
            await c.until_gone(VOLUME_ATTACHMENTS, attachment_on("n"))
            await c.until(NODES, "n", lists_none)


async def test_a_restarted_controller_keeps_an_attachment_in_use() -> None:
    async with connected() as (client, _):
        async with working(client, attach_detach.set_up) as c:
            await node(c, "n")
            await bound_claim(c)
            await pod_on(c, "n")
            found = await attached(c, "n")
            await c.events("SuccessfulAttachVolume")
        async with working(client, attach_detach.set_up) as c:
            await pod_on(c, "n", "second")
            await c.patch_status(NODES, "n", {"volumesAttached": None})
            await c.until(NODES, "n", lists_volume)
            assert stays(found)(await c.get(VOLUME_ATTACHMENTS, attachment_on("n")))
            assert len(await c.events("SuccessfulAttachVolume")) == 1
