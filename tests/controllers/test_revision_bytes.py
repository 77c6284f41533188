"""Tests that the data of a ControllerRevision has the same bytes as kube-controller-manager stores."""

import pytest

from sampan.component_base.resources import CONTROLLER_REVISIONS, DAEMON_SETS, STATEFUL_SETS
from sampan.controllers import daemon_set, stateful_set
from sampan.resource import Object, ResourceInfo, meta
from tests.controllers.cluster import Working, cluster

KINDS = [pytest.param(DAEMON_SETS, id="DaemonSet"), pytest.param(STATEFUL_SETS, id="StatefulSet")]
LABELS = {"b": "1", "a": "2"}
TEMPLATE: Object = {
    "spec": {
        "terminationGracePeriodSeconds": 5,
        "containers": [
            {
                "name": "c",
                "image": "i:1",
                "command": ["sh", "-c", "a <b >c && d \u2028 \u00e9 \x7f"],
                "resources": {"limits": {"memory": "1024Mi", "cpu": "0.5"}},
                "env": [{"name": "z", "value": ""}, {"name": "y", "value": '"\\\n'}],
            }
        ],
    },
    "metadata": {"labels": LABELS, "annotations": {"z.example.org/x": "", "a": "\t"}},
}
# Written by hand from the rules of Go's encoding/json: sorted keys, no spaces, < > & and U+2028 escaped.
EXPECTED = (
    '{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"a":"\\t","z.example.org/x":""},'
    '"labels":{"a":"2","b":"1"}},"spec":{"containers":[{"command":["sh","-c","a \\u003cb \\u003ec \\u0026\\u0026 d '
    '\\u2028 \u00e9 \x7f"],"env":[{"name":"z"},{"name":"y","value":"\\"\\\\\\n"}],"image":"i:1",'
    '"imagePullPolicy":"IfNotPresent","name":"c","resources":{"limits":{"cpu":"500m","memory":"1Gi"}},'
    '"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst",'
    '"restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},'
    '"terminationGracePeriodSeconds":5}}}}'
)


async def data_bytes(c: Working, revision: Object) -> bytes:
    """Return the data as the server sends it."""
    path = f"/apis/apps/v1/namespaces/default/controllerrevisions/{meta(revision).name}"
    body = await c.client.rest.call("GET", path)
    start = body.index(b'"data":') + len(b'"data":')
    return body[start : body.index(b',"revision":', start)]


@pytest.mark.parametrize("kind", KINDS)
async def test_the_data_equals_that_of_kube_controller_manager(kind: ResourceInfo) -> None:
    async with cluster(daemon_set.set_up, stateful_set.set_up) as c:
        spec = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
        await c.create(kind, {"metadata": {"name": "a"}, "spec": spec})
        [revision] = await c.until_all(CONTROLLER_REVISIONS, lambda found: len(found) == 1)
        assert (await data_bytes(c, revision)).decode() == EXPECTED


@pytest.mark.parametrize("kind", KINDS)
async def test_the_data_stays_the_same_when_the_revision_is_renumbered(kind: ResourceInfo) -> None:
    async with cluster(daemon_set.set_up, stateful_set.set_up) as c:
        spec = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
        await c.create(kind, {"metadata": {"name": "a"}, "spec": spec})
        [first] = await c.until_all(CONTROLLER_REVISIONS, lambda found: len(found) == 1)
        for image in ("i:2", "i:1"):
            change = {"containers": [{**TEMPLATE["spec"]["containers"][0], "image": image}]}
            await c.patch(kind, "a", {"spec": {"template": {"spec": change}}})
            await c.until_all(CONTROLLER_REVISIONS, lambda found: len(found) == 2)
        again = await c.until(CONTROLLER_REVISIONS, meta(first).name, lambda each: each["revision"] == 3)
        assert (await data_bytes(c, again)).decode() == EXPECTED
