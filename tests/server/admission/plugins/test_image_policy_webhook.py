"""ImagePolicyWebhook: the requests to the webhook about images, and the effect of its answers."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.core.errors import StatusError
from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.registry.webhook.credentials import ClientCredentials
from sampan.registry.webhook.response import WebhookError
from sampan.registry.webhook.target import WebhookTarget
from sampan.server.admission.chain import Attributes
from sampan.server.admission.plugins.image_policy_webhook import ImagePolicyWebhook
from tests.server.admission.objects import container, pod

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://images.example.com:8443/check"}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


class Backend:
    """Answers with a status, or with the bytes or faults that it is given, the last one again and again."""

    def __init__(self, *responses: Object | bytes | WebhookError) -> None:
        self.responses = list(responses)
        self.requested: list[Any] = []
        self.place: tuple[WebhookTarget, ClientCredentials] | None = None
        self.waits: list[float] = []
        self.now = 0.0

    def connect(self, target: WebhookTarget, credentials: ClientCredentials) -> "Backend":
        self.place = (target, credentials)
        return self

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        self.requested.append(orjson.loads(body))
        response = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
        if isinstance(response, WebhookError):
            raise response
        return response if isinstance(response, bytes) else orjson.dumps({**self.requested[-1], "status": response})

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG)
    return str(file)


def plugin(kubeconfig: str, backend: Backend, **more: Any) -> ImagePolicyWebhook:
    configuration = {"imagePolicy": {"kubeConfigFile": kubeconfig, **more}}
    return ImagePolicyWebhook(configuration, backend.connect, now=lambda: backend.now, sleep=backend.sleep)


def attributes_of(obj: Object, subresource: str = "") -> Attributes:
    return Attributes(
        "UPDATE" if subresource else "CREATE",
        GroupVersionKind("", "v1", "Pod"),
        GroupVersionResource("", "v1", "pods"),
        "default",
        obj["metadata"]["name"],
        subresource,
        None,
        False,
        obj,
    )


async def refused(plugin: ImagePolicyWebhook, obj: Object) -> str:
    with pytest.raises(StatusError) as raised:
        await plugin.validate(attributes_of(obj))
    assert raised.value.code == 403
    return raised.value.message


async def test_the_webhook_receives_images_and_only_its_annotations(kubeconfig: str) -> None:
    backend = Backend({"allowed": True})
    obj = pod(containers=[container(image="a")], initContainers=[container(image="b")])
    obj["metadata"]["annotations"] = {"x.image-policy.k8s.io/ticket": "1", "other": "2"}
    await plugin(kubeconfig, backend).validate(attributes_of(obj))
    assert backend.requested == [
        {
            "kind": "ImageReview",
            "apiVersion": "imagepolicy.k8s.io/v1alpha1",
            "metadata": {},
            "spec": {
                "containers": [{"image": "a"}, {"image": "b"}],
                "annotations": {"x.image-policy.k8s.io/ticket": "1"},
                "namespace": "default",
            },
            "status": {"allowed": False},
        }
    ]
    target, credentials = backend.place or pytest.fail("there was no connection")
    assert (target.host, target.port, target.path) == ("images.example.com", 8443, "/check")
    assert credentials.authorization == "Bearer secret"


async def test_of_ephemeral_containers_only_they_are_called(kubeconfig: str) -> None:
    backend = Backend({"allowed": True})
    obj = pod(containers=[container(image="a")], ephemeralContainers=[container(image="e")])
    await plugin(kubeconfig, backend).validate(attributes_of(obj, "ephemeralcontainers"))
    assert backend.requested[0]["spec"]["containers"] == [{"image": "e"}]


async def test_other_subresources_are_not_called_about(kubeconfig: str) -> None:
    backend = Backend({"allowed": False})
    await plugin(kubeconfig, backend).validate(attributes_of(pod(), "status"))
    assert backend.requested == []


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("too old", "image policy webhook backend denied one or more images: too old"),
        ("", "one or more images rejected by webhook backend"),
    ],
)
async def test_a_refusal_refuses_the_pod(kubeconfig: str, reason: str, text: str) -> None:
    backend = Backend({"allowed": False, "reason": reason})
    assert await refused(plugin(kubeconfig, backend), pod()) == f'pods "p" is forbidden: {text}'


async def test_audit_annotations_get_the_prefix_of_the_plug_in(kubeconfig: str) -> None:
    attributes = attributes_of(pod())
    await plugin(kubeconfig, Backend({"allowed": True, "auditAnnotations": {"k": "v"}})).validate(attributes)
    assert attributes.annotations == {"imagepolicywebhook.image-policy.k8s.io/k": "v"}


@pytest.mark.parametrize(
    "response", [WebhookError("dead"), b"spam", b'{"kind":"Pod"}', b'{"status":{"allowed":1}}'], ids=str
)
async def test_without_a_review_the_pod_is_refused(kubeconfig: str, response: bytes | WebhookError) -> None:
    assert (await refused(plugin(kubeconfig, Backend(response)), pod())).startswith('pods "p" is forbidden: ')


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (
            b'{"status":"x"}',
            "json: cannot unmarshal string into Go struct field ImageReview.status of type v1alpha1.ImageReviewStatus",
        ),
        (
            b'{"status":{"allowed":true,"auditAnnotations":{"a":1}}}',
            "json: cannot unmarshal number into Go struct field ImageReviewStatus.status.auditAnnotations of type "
            "string",
        ),
        (
            b'{"kind":"Pod"}',
            'no kind "Pod" is registered for version "imagepolicy.k8s.io/v1alpha1"',
        ),
        (b'{"kind":', "couldn't get version/kind; json parse error: unexpected end of JSON input"),
    ],
    ids=["status", "annotation", "kind", "syntax"],
)
async def test_a_response_that_is_no_review_is_reported(kubeconfig: str, response: bytes, text: str) -> None:
    assert await refused(plugin(kubeconfig, Backend(response)), pod()) == f'pods "p" is forbidden: {text}'


async def test_a_review_may_be_yaml(kubeconfig: str) -> None:
    await plugin(kubeconfig, Backend(b"kind: ImageReview\nstatus: {allowed: true}\n")).validate(attributes_of(pod()))


async def test_without_a_review_the_pod_may_be_allowed_by_default(kubeconfig: str) -> None:
    attributes = attributes_of(pod())
    await plugin(kubeconfig, Backend(WebhookError("dead")), defaultAllow=True).validate(attributes)
    assert attributes.annotations == {"imagepolicywebhook.image-policy.k8s.io/failed-open": "true"}
    assert attributes.obj is not None
    assert attributes.obj["metadata"]["annotations"] == {"alpha.image-policy.k8s.io/failed-open": "true"}


async def test_a_fault_that_may_pass_is_tried_again(kubeconfig: str) -> None:
    busy = WebhookError("busy", may_pass=True)
    backend = Backend(busy, busy, {"allowed": True})
    await plugin(kubeconfig, backend, retryBackoff=100).validate(attributes_of(pod()))
    assert backend.waits == [pytest.approx(0.11, abs=0.01), pytest.approx(0.165, abs=0.015)]


async def test_after_five_tries_the_fault_counts(kubeconfig: str) -> None:
    backend = Backend(WebhookError("busy", may_pass=True))
    assert await refused(plugin(kubeconfig, backend), pod()) == 'pods "p" is forbidden: busy'
    assert len(backend.requested) == 5


@pytest.mark.parametrize(("allowed", "ttl_s"), [(True, 300), (False, 30)])
async def test_a_review_is_cached_for_a_time(kubeconfig: str, allowed: bool, ttl_s: int) -> None:
    backend = Backend({"allowed": allowed})
    sender = plugin(kubeconfig, backend)
    for now in (0, ttl_s - 1, ttl_s):
        backend.now = now
        try:
            await sender.validate(attributes_of(pod()))
        except StatusError:
            assert not allowed
    assert len(backend.requested) == 2


async def test_other_images_are_called_about_again(kubeconfig: str) -> None:
    backend = Backend({"allowed": True})
    sender = plugin(kubeconfig, backend)
    for image in ("a", "b", "a"):
        await sender.validate(attributes_of(pod(containers=[container(image=image)])))
    assert len(backend.requested) == 2


async def test_reviews_need_not_be_cached(kubeconfig: str) -> None:
    backend = Backend({"allowed": True})
    sender = plugin(kubeconfig, backend, allowTTL=-1)
    for _ in range(2):
        await sender.validate(attributes_of(pod()))
    assert len(backend.requested) == 2


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"allowTTL": 1801}, "valid value is between 1s and 30m0s, got 30m1s"),
        ({"denyTTL": -2}, "valid value is between 1s and 30m0s, got -2s"),
        ({"retryBackoff": 300_001}, "valid value is between 1ns and 5m0s, got 5m0.001s"),
    ],
    ids=["allow", "deny", "back-off"],
)
def test_bad_configurations_are_refused(kubeconfig: str, settings: Object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        plugin(kubeconfig, Backend({}), **settings)


def test_a_kubeconfig_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="No such file or directory"):
        plugin("/nowhere", Backend({}))


def test_it_cannot_be_on_without_a_configuration() -> None:
    with pytest.raises(ValueError, match="no config specified"):
        ImagePolicyWebhook({}, Backend({}).connect)
