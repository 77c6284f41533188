"""Volumes that are directories of nodes: the class, their creation, and their deletion by the node."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.client import DeleteOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import (
    DELETED,
    FINALIZER,
    NODE,
    TO_DELETE,
    TO_DELETE_MAX,
    deleted,
    deleted_text,
    is_to_delete,
    listed,
    node_of,
    to_delete_text,
)
from sampan.component_base.resources import (
    CSI_DRIVERS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from sampan.controllers import local_path, persistent_volumes
from sampan.controllers.local_path.provisioning import refusal
from sampan.controllers.volumes import volume_protection
from sampan.resource import Object, meta
from tests.controllers.cluster import Working, cluster, working
from tests.properties import examples

ALL = (local_path.set_up, persistent_volumes.set_up, volume_protection.set_up_volumes)
SELECTED = {"volume.kubernetes.io/selected-node": "n"}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def with_class(context: ControllerContext) -> None:
    """Set up the loops with the StorageClass."""
    local_path.set_up(replace(context, local_path_class=True))


def claim(**spec: Any) -> Any:
    """A claim whose Pod the scheduler has put on node n."""
    fields = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": "c", "annotations": SELECTED}, "spec": {**fields, "storageClassName": "l", **spec}}


def class_of_directories(**fields: Any) -> Any:
    """A class with the provisioner."""
    mode = {"volumeBindingMode": "WaitForFirstConsumer"}
    return {"metadata": {"name": "l"}, "provisioner": "sampan.dev/local-path", **mode, **fields}


async def node(c: Working, labels: dict[str, str] | None = None) -> None:
    """Create node n, which is ready."""
    labels = {"kubernetes.io/hostname": "host", **(labels or {})}
    await c.create(NODES, {"metadata": {"name": "n", "labels": labels}})
    await c.patch_status(NODES, "n", READY)


async def bound(c: Working, **fields: Any) -> Any:
    """Return the volume of a bound claim."""
    await c.create(STORAGE_CLASSES, class_of_directories(**fields))
    await c.create(PERSISTENT_VOLUME_CLAIMS, claim())
    found = await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda each: each["status"].get("phase") == "Bound")
    return await c.get(PERSISTENT_VOLUMES, found["spec"]["volumeName"])


async def report_deleted(c: Working, *uids: str) -> None:
    """Report deleted directories, as the node does."""
    await c.patch(NODES, "n", {"metadata": {"annotations": {DELETED: deleted_text(uids)}}})


def lists(volume: Any) -> Callable[[Object], bool]:
    """Return a condition: a Node lists the volume for deletion."""
    return lambda node: meta(volume).uid in listed(meta(node).annotations).values()


async def test_the_default_class_exists_and_comes_back() -> None:
    async with cluster(with_class) as c:
        made = await c.until(STORAGE_CLASSES, "local-path", lambda _: True)
        assert meta(made).annotations == {"storageclass.kubernetes.io/is-default-class": "true"}
        assert (made["provisioner"], made["reclaimPolicy"]) == ("sampan.dev/local-path", "Delete")
        assert made["volumeBindingMode"] == "WaitForFirstConsumer"
        assert (await c.get(CSI_DRIVERS, "local-path.sampan.dev"))["spec"]["attachRequired"] is False
        await c.delete(STORAGE_CLASSES, "local-path")
        await c.until(STORAGE_CLASSES, "local-path", lambda each: meta(each).uid != meta(made).uid)


async def test_a_class_of_another_provisioner_stays_and_remains_the_only_default() -> None:
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    async with cluster() as c:
        await c.create(STORAGE_CLASSES, {"metadata": {"name": "disk", "annotations": mark}, "provisioner": "d.example"})
        async with working(c.client, with_class):
            made = await c.until(STORAGE_CLASSES, "local-path", lambda _: True)
            assert meta(made).annotations == {}


async def test_a_changed_class_stays_as_it_is() -> None:
    async with cluster() as c:
        own = {**class_of_directories(reclaimPolicy="Retain"), "metadata": {"name": "local-path"}}
        before = await c.create(STORAGE_CLASSES, own)
        async with working(c.client, with_class):
            await c.create(STORAGE_CLASSES, {**class_of_directories(), "metadata": {"name": "other"}})
            after = await c.get(STORAGE_CLASSES, "local-path")
            assert meta(after).resource_version == meta(before).resource_version


async def test_without_the_option_there_is_no_class() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        await bound(c)
        assert not await c.exists(STORAGE_CLASSES, "local-path")


async def test_a_claim_gets_a_volume_on_the_selected_node() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        made = await bound(c)
        assert made["spec"]["csi"]["volumeAttributes"] == {NODE: "n"}
        [term] = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["host"]}]
        assert (node_of(made), FINALIZER in meta(made).finalizers) == ("n", True)
        assert not {"hostPath", "local"} & made["spec"].keys()
        await c.events("ProvisioningSucceeded")


async def test_a_selected_node_that_does_not_exist_is_selected_again() -> None:
    async with cluster(*ALL) as c:
        await c.create(STORAGE_CLASSES, class_of_directories())
        await c.create(PERSISTENT_VOLUME_CLAIMS, claim())
        await c.until(PERSISTENT_VOLUME_CLAIMS, "c", lambda each: not SELECTED.keys() & meta(each).annotations.keys())
        [event] = await c.events("ProvisioningFailed")
        assert event["message"] == 'the selected node "n" does not exist'


@pytest.mark.parametrize(
    ("spec", "fields", "text"),
    [
        ({}, {}, ""),
        ({"accessModes": ["ReadWriteOncePod"]}, {}, ""),
        ({"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}, {}, "access mode ReadWriteMany"),
        ({"accessModes": ["ReadOnlyMany"]}, {}, "access mode ReadOnlyMany"),
        ({"volumeMode": "Block"}, {}, "no block device"),
        ({"selector": {}}, {}, "Selector is not supported"),
        ({"dataSource": {"kind": "VolumeSnapshot", "name": "s"}}, {}, "data source"),
        ({}, {"volumeBindingMode": "Immediate"}, "needs volumeBindingMode: WaitForFirstConsumer"),
    ],
    ids=["allowed", "one Pod", "many writers", "many readers", "block", "selector", "snapshot", "immediate"],
)
def test_what_a_directory_cannot_be_is_refused(spec: Object, fields: Object, text: str) -> None:
    found = refusal(claim(**spec), class_of_directories(**fields))
    assert text in found if text else not found


async def test_a_refused_claim_gets_an_event() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        await c.create(STORAGE_CLASSES, class_of_directories())
        await c.create(PERSISTENT_VOLUME_CLAIMS, claim(accessModes=["ReadWriteMany"]))
        [event] = await c.events("ProvisioningFailed")
        assert "use ReadWriteOnce" in event["message"]
        assert not await c.all(PERSISTENT_VOLUMES)


async def test_a_volume_disappears_after_the_node_has_deleted_its_directory() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        made = await bound(c)
        name, uid = meta(made).name, meta(made).uid
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until(NODES, "n", lists(made))
        ending: Any = await c.until(PERSISTENT_VOLUMES, name, lambda each: meta(each).deletion_timestamp)
        assert is_to_delete(ending)
        await report_deleted(c, "another", uid)
        await c.until_gone(PERSISTENT_VOLUMES, name)
        await c.until(NODES, "n", lambda each: TO_DELETE not in meta(each).annotations)


async def test_a_retained_volume_stays_and_its_deletion_keeps_the_directory() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        name = meta(await bound(c, reclaimPolicy="Retain")).name
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until(PERSISTENT_VOLUMES, name, lambda each: each["status"]["phase"] == "Released")
        await c.delete(PERSISTENT_VOLUMES, name)
        await c.until_gone(PERSISTENT_VOLUMES, name)
        assert not meta(await c.get(NODES, "n")).annotations


async def test_a_volume_that_is_deleted_while_it_is_bound_keeps_its_data_until_its_claim_is_gone() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        made = await bound(c)
        await c.until(PERSISTENT_VOLUMES, meta(made).name, lambda each: len(meta(each).finalizers) == 2)
        await c.client.resource(PERSISTENT_VOLUMES).delete(meta(made).name, DeleteOptions(uid=meta(made).uid))
        ending: Any = await c.until(PERSISTENT_VOLUMES, meta(made).name, lambda each: meta(each).deletion_timestamp)
        assert not is_to_delete(ending)
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until(NODES, "n", lists(made))


async def test_a_volume_of_a_node_that_is_away_waits_with_an_event() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        made = await bound(c)
        await c.patch_status(NODES, "n", {"conditions": [{"type": "Ready", "status": "Unknown"}]})
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        [event] = await c.events("WaitingForNode")
        assert event["involvedObject"]["name"] == meta(made).name
        await c.until(PERSISTENT_VOLUMES, meta(made).name, lambda each: meta(each).deletion_timestamp)
        await report_deleted(c, meta(made).uid)
        await c.until_gone(PERSISTENT_VOLUMES, meta(made).name)


async def test_a_volume_of_a_deleted_node_disappears_with_an_event() -> None:
    async with cluster(*ALL) as c:
        await node(c)
        made = await bound(c)
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until(NODES, "n", lists(made))
        await c.delete(NODES, "n")
        await c.until_gone(PERSISTENT_VOLUMES, meta(made).name)
        [event] = await c.events("VolumeDataLeft")
        assert 'node "n" was deleted' in event["message"]


async def test_a_volume_of_a_simulated_node_has_no_directory_to_delete() -> None:
    async with cluster(*ALL) as c:
        await node(c, {"sampan.dev/runtime": "simulated"})
        made = await bound(c)
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
        await c.until_gone(PERSISTENT_VOLUMES, meta(made).name)


def test_a_volume_that_the_loop_did_not_create_belongs_to_no_node() -> None:
    csi = {"driver": "local-path.sampan.dev", "volumeAttributes": {NODE: "n"}}
    foreign: Any = {"metadata": {"name": "v"}, "spec": {"csi": csi}}
    without_node: Any = {"metadata": {"name": "v"}, "spec": {"csi": {**csi, "volumeAttributes": None}}}
    assert not node_of(foreign)
    assert not node_of(without_node)


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=TO_DELETE_MAX + 5))
@settings(max_examples=examples(100))
def test_the_list_of_a_node_is_bounded_and_read_as_it_was_written(volumes: dict[str, str]) -> None:
    text = to_delete_text(volumes)
    found = listed({TO_DELETE: text} if text is not None else {})
    assert len(found) == min(len(volumes), TO_DELETE_MAX)
    assert found.items() <= volumes.items()
    reported = deleted_text(volumes.values())
    assert deleted({DELETED: reported} if reported is not None else {}) == set(volumes.values())


@given(st.text(max_size=40))
@settings(max_examples=examples(100))
def test_malformed_annotations_count_as_empty(text: str) -> None:
    assert all(isinstance(uid, str) for uid in listed({TO_DELETE: text}).values())
    assert all(isinstance(uid, str) for uid in deleted({DELETED: text}))
