"""Numbers that are expensive to compute with: each is answered at once, and the server serves the next request.

Without its bounds the server never returns from the first of these requests, so that no test measures time.
"""

import base64
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest

from sampan.core.gvk import GroupVersionKind
from tests.server.cluster import SCHEMAS, Api, ApiResponse, served
from tests.server.huge_numbers import DIGITS, NUMBERS, body_of
from tests.server.verbs.objects import CONFIG_MAPS, DEPLOYMENTS, PODS, config_map, deployment

HUGE = "1e999999999"
QUOTAS = "/api/v1/namespaces/default/resourcequotas"
LIMIT_RANGES = "/api/v1/namespaces/default/limitranges"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
NODES = "/api/v1/nodes"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LEVELS = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
PARAMETERS = (
    "limit",
    "timeoutSeconds",
    "resourceVersion",
    "continue",
    "gracePeriodSeconds",
    "tailLines",
    "sinceSeconds",
)
VALUES = (DIGITS, f"-{DIGITS}", HUGE, str(-(2**63)))
JSON_NUMBERS = (DIGITS, HUGE, f"-{HUGE}", f"0.{DIGITS}e400", "1e-999999999")
YAML_NUMBERS = ("0x" + "f" * 5000, "0b" + "1" * 5000, "0o" + "7" * 5000, "1:" * 5000 + "1", f"{DIGITS}.5")
LITERALS = (DIGITS, "0x" + "f" * 5000, f"{DIGITS}u", HUGE, f"-{DIGITS}", "9223372036854775808")
PATCHES = ("json", "merge", "strategic", "apply")


def first_letters(text: str) -> str:
    """The id of a test whose parameter is long."""
    return text[:12]


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        yield api
        assert (await api.get(CONFIG_MAPS)).code == 200


def check_responses(reply: ApiResponse) -> None:
    """The answer is not a fault of the server; a few faults of clients are 500 without a reason in Kubernetes too."""
    assert reply.code < 500 or not reply.body.get("reason"), reply.body


def paths(api: Api) -> list[tuple[str, dict[str, Any], GroupVersionKind]]:
    """The collections of all built-in kinds, with the beginning of an object."""
    found = []
    for definition in api.cluster.registry.definitions():
        for version in definition.versions:
            api_version = f"{definition.group}/{version}" if definition.group else version
            root = f"/apis/{api_version}" if definition.group else f"/api/{version}"
            place = "/namespaces/default" if definition.namespaced else ""
            head = {"apiVersion": api_version, "kind": definition.kind, "metadata": {"name": "a"}}
            gvk = GroupVersionKind(definition.group, version, definition.kind)
            found.append((f"{root}{place}/{definition.resource}", head, gvk))
    return found


@pytest.mark.parametrize("name", NUMBERS)
async def test_every_field_of_every_built_in_kind_may_hold_a_huge_number(api: Api, name: str) -> None:
    requested = 0
    for path, head, gvk in paths(api):
        schema = SCHEMAS.schema_for_kind(gvk)
        if schema is None:
            continue
        body = {**head, **body_of(schema, NUMBERS[name])}
        check_responses(await api.post(path, body))
        for target in (f"{path}/a", f"{path}/a/status"):
            check_responses(await api.put(target, body))
            check_responses(await api.patch(target, body, "merge"))
            check_responses(await api.apply(target, body, "fieldManager=m&force=true"))
        requested += 1
    assert requested > 60


def pod(**container: Any) -> dict[str, Any]:
    """A Pod whose container has these fields."""
    spec = {"containers": [{"name": "c", "image": "i", **container}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def huge_pods() -> dict[str, dict[str, Any]]:
    """Pods with a huge amount in one place."""
    volume = pod()
    volume["spec"]["volumes"] = [{"name": "v", "emptyDir": {"sizeLimit": HUGE}}]
    whole = pod()
    whole["spec"]["resources"] = {"limits": {"cpu": HUGE}}
    overhead = pod()
    overhead["spec"]["overhead"] = {"cpu": HUGE}
    reference = {"resource": "limits.cpu", "divisor": HUGE}
    found = {"sizeLimit": volume, "pod resources": whole, "overhead": overhead}
    found["divisor"] = pod(env=[{"name": "E", "valueFrom": {"resourceFieldRef": reference}}])
    for name in ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1e999999999", "example.com/gpu"):
        found[name] = pod(resources={"limits": {name: HUGE, "memory": "1Gi"}, "requests": {name: HUGE}})
        found[f"{name}, negative"] = pod(resources={"limits": {name: f"-{HUGE}"}})
    return found


@pytest.mark.parametrize("body", huge_pods().values(), ids=huge_pods())
async def test_a_pod_with_a_huge_amount(api: Api, body: dict[str, Any]) -> None:
    check_responses(await api.post(PODS, body))
    check_responses(await api.apply(f"{PODS}/p", body))
    workload = deployment()
    workload["spec"]["template"]["spec"] = body["spec"]
    check_responses(await api.post(DEPLOYMENTS, workload))


async def test_a_huge_amount_is_kept_as_it_was_written(api: Api) -> None:
    made = await api.create(PODS, pod(resources={"limits": {"cpu": HUGE}}))
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"cpu": HUGE}
    assert made["status"]["qosClass"] == "Burstable"


async def test_a_request_above_a_huge_limit_is_refused(api: Api) -> None:
    reply = await api.post(PODS, pod(resources={"limits": {"cpu": HUGE}, "requests": {"cpu": "1e1000000000"}}))
    assert (reply.code, reply.causes[0]["field"]) == (422, "spec.containers[0].resources.requests")
    assert reply.message.endswith(f"must be less than or equal to cpu limit of {HUGE}")


@pytest.mark.parametrize("kind", PATCHES)
async def test_a_resize_to_a_huge_amount(api: Api, kind: str) -> None:
    await api.create(PODS, pod(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}))
    body: Any = pod(resources={"limits": {"cpu": HUGE}, "requests": {"cpu": HUGE}})
    if kind == "json":
        path = "/spec/containers/0/resources/limits/cpu"
        body = [{"op": "replace", "path": path, "value": HUGE}]
    reply = await api.patch(f"{PODS}/p/resize?fieldManager=m{'&force=true' if kind == 'apply' else ''}", body, kind)
    assert reply.code == 200


async def test_amounts_that_differ_by_a_billion_digits_are_counted_against_a_quota(api: Api) -> None:
    await api.create(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": {"limits.cpu": HUGE, "pods": HUGE}}})
    for name, amount in (("a", "1"), ("b", HUGE), ("c", "1n"), ("d", "2e999999999")):
        body = pod(resources={"limits": {"cpu": amount}})
        body["metadata"]["name"] = name
        reply = await api.post(PODS, body)
        assert reply.code == (403 if name == "d" else 201), reply.body
        used = {"hard": {"limits.cpu": HUGE}, "used": {"limits.cpu": amount}}
        check_responses(await api.patch(f"{QUOTAS}/q/status", {"status": used}))


async def test_a_limit_range_with_huge_bounds_and_ratios(api: Api) -> None:
    bounds = {"max": {"cpu": HUGE}, "min": {"cpu": "1n"}, "maxLimitRequestRatio": {"cpu": "1e999999998"}}
    limit = {"type": "Container", **bounds, "default": {"cpu": HUGE}, "defaultRequest": {"cpu": "1"}}
    check_responses(await api.post(LIMIT_RANGES, {"metadata": {"name": "a"}, "spec": {"limits": [limit]}}))
    limit["maxLimitRequestRatio"] = {"cpu": "2"}
    await api.create(LIMIT_RANGES, {"metadata": {"name": "b"}, "spec": {"limits": [limit]}})
    check_responses(await api.post(PODS, pod()))


async def test_claims_and_volumes_of_a_huge_size(api: Api) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": HUGE}}}
    await api.create(CLAIMS, {"metadata": {"name": "c"}, "spec": claim})
    status = {"status": {"capacity": {"storage": "1e-999999999"}, "allocatedResources": {"storage": HUGE}}}
    check_responses(await api.patch(f"{CLAIMS}/c/status", status))
    volume = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": HUGE}, "hostPath": {"path": "/x"}}
    await api.create(VOLUMES, {"metadata": {"name": "v"}, "spec": volume})


async def test_a_node_with_huge_capacities(api: Api) -> None:
    amounts = {"cpu": HUGE, "memory": "1e2147483647", "hugepages-2Mi": "1e-999999999"}
    await api.create(NODES, {"metadata": {"name": "n"}, "status": {"capacity": amounts}})
    reply = await api.patch(f"{NODES}/n/status", {"status": {"capacity": amounts, "allocatable": amounts}})
    check_responses(reply)


@pytest.mark.parametrize(
    "schedule",
    [
        "0 0 30 2 *",
        f"@every {DIGITS}h",
        f"@every 1.{DIGITS}s",
        f"@every {'1h' * 5000}",
        f"*/{DIGITS} * * * *",
        f"0-{DIGITS} * * * *",
        f"TZ={DIGITS} * * * * *",
    ],
    ids=first_letters,
)
async def test_a_schedule_with_huge_numbers(api: Api, schedule: str) -> None:
    template = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}
    spec = {"schedule": schedule, "startingDeadlineSeconds": 2**63 - 1, "jobTemplate": template}
    reply = await api.post(CRON_JOBS, {"metadata": {"name": "c"}, "spec": spec})
    assert reply.code in (201, 422), reply.body


@pytest.mark.parametrize("field", ["maxSurge", "maxUnavailable"])
async def test_a_percentage_with_more_digits_than_an_integer(api: Api, field: str) -> None:
    reply = await api.post(DEPLOYMENTS, deployment(strategy={"rollingUpdate": {field: f"{DIGITS}%"}}))
    assert reply.code == (422 if field == "maxUnavailable" else 201)
    if reply.code == 422:
        assert "must not be greater than 100%" in reply.message


@pytest.mark.parametrize("value", VALUES, ids=first_letters)
@pytest.mark.parametrize("name", PARAMETERS)
async def test_a_parameter_that_is_a_huge_number(api: Api, name: str, value: str) -> None:
    await api.create(CONFIG_MAPS, config_map())
    for method, path in (("GET", CONFIG_MAPS), ("DELETE", CONFIG_MAPS), ("GET", f"{PODS}/p/log")):
        reply = await api.fetch(method, f"{path}?{name}={value}")
        assert reply.code in (200, 400, 404, 422), reply.body


@pytest.mark.parametrize("seconds", [2**63 - 1, -(2**63)])
async def test_a_pod_is_deleted_with_any_grace_period(api: Api, seconds: int) -> None:
    body = pod()
    body["spec"]["nodeName"] = "n"
    await api.create(PODS, body)
    reply = await api.delete(f"{PODS}/p", {"gracePeriodSeconds": seconds})
    assert reply.code == 200
    if seconds > 0:
        assert reply.metadata["deletionTimestamp"] == "9999-12-31T23:59:59Z"
        assert (await api.delete(f"{PODS}/p", {"gracePeriodSeconds": 5})).code == 200


@pytest.mark.parametrize("selector", [f"a>{DIGITS}", f"a<{HUGE}", f"a>-{DIGITS}"], ids=first_letters)
async def test_a_label_selector_with_a_huge_number(api: Api, selector: str) -> None:
    assert (await api.get(f"{CONFIG_MAPS}?labelSelector={quote(selector)}")).code == 400


@pytest.mark.parametrize("number", JSON_NUMBERS, ids=first_letters)
@pytest.mark.parametrize("content_type", ["application/json", "application/yaml"])
async def test_a_json_number_that_does_not_fit(api: Api, content_type: str, number: str) -> None:
    body = b'{"metadata":{"name":"a","generation":%s}}' % number.encode()
    check_responses(await api.fetch("POST", CONFIG_MAPS, body, content_type=content_type))
    await api.post(CONFIG_MAPS, config_map())
    for kind in PATCHES[1:]:
        check_responses(await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m", body, kind))


@pytest.mark.parametrize("number", YAML_NUMBERS, ids=first_letters)
async def test_a_yaml_number_that_does_not_fit(api: Api, number: str) -> None:
    body = f"metadata: {{name: a, generation: {number}}}".encode()
    assert (await api.fetch("POST", CONFIG_MAPS, body, content_type="application/yaml")).code == 400


@pytest.mark.parametrize("index", [DIGITS, f"-{DIGITS}", "0" * 5000])
async def test_a_json_patch_with_a_huge_index(api: Api, index: str) -> None:
    await api.create(CONFIG_MAPS, config_map(finalizers=["example.com/a"]))
    reply = await api.patch(f"{CONFIG_MAPS}/a", [{"op": "remove", "path": f"/metadata/finalizers/{index}"}], "json")
    check_responses(reply)


@pytest.mark.parametrize("text", [f"bytes=0-{DIGITS}", f"bytes={DIGITS}-", f"bytes=-{DIGITS}"])
async def test_a_range_with_a_huge_offset(api: Api, text: str) -> None:
    for path in ("/openapi/v2", "/openapi/v3"):
        response = await api.client.get(path, range=text)
        assert response.status in (200, 206, 416)


async def test_a_priority_level_may_have_ten_million_queues(api: Api) -> None:
    queuing = {"queues": 10_000_000, "handSize": 1, "queueLengthLimit": 2**31 - 1}
    response = {"type": "Queue", "queuing": queuing}
    limited = {"nominalConcurrencyShares": 2**31 - 1, "limitResponse": response}
    await api.create(LEVELS, {"metadata": {"name": "a"}, "spec": {"type": "Limited", "limited": limited}})


RULES = [
    "quantity(self.s).add(quantity('1')).compareTo(quantity(self.s)) == 0",
    "quantity(self.s).isInteger() && quantity(self.s).asInteger() > 0",
    "quantity(self.s).asApproximateFloat() > 0.0",
    "duration(self.s) > duration('1s')",
    "int(self.s) > 0 || uint(self.s) > 0u",
    "double(self.s) > 0.0",
    "semver(self.s).major() > 0",
    "semver(self.s, true).isLessThan(semver('1.0.0'))",
    "self.s.split(',').map(x, int(x)).sum() > 0",
    "cidr(self.s).prefixLength() > 0",
    "quantity('" + HUGE + "').isGreaterThan(quantity('-1e-999999999'))",
]
TEXTS = [
    HUGE,
    "-1e2147483647",
    "1e-999999999",
    DIGITS,
    f"{DIGITS[:999]}Ei",
    f"1.{DIGITS}s",
    "1h" * 2000,
    f"1.2.3-{DIGITS}",
    f"1.2.3-{'1.' * 2000}1",
    f"{DIGITS}.0.0",
    f"1.2.3.4/{DIGITS}",
    "9," * 2000 + "9",
]


def crd(rule: str, **properties: Any) -> dict[str, Any]:
    """A CRD whose spec has a text and a rule."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"s": {"type": "string", "maxLength": 10_000}, **properties},
    }
    if rule:
        schema["x-kubernetes-validations"] = [{"rule": rule}]
    whole = {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": whole}
    names = {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": {"name": "boats.example.com"}, "spec": spec}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule[:40])
async def test_a_rule_over_huge_numbers(api: Api, rule: str) -> None:
    await api.create(CRDS, crd(rule))
    for text in TEXTS:
        body = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"s": text}}
        reply = await api.post("/apis/example.com/v1/namespaces/default/boats?dryRun=All", body)
        assert reply.code in (201, 422), reply.body


@pytest.mark.parametrize("literal", LITERALS, ids=first_letters)
async def test_a_rule_with_a_huge_literal_is_refused(api: Api, literal: str) -> None:
    assert (await api.post(CRDS, crd(f"{literal} == {literal}"))).code == 422


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 2**63 - 1, "minLength": 2**63 - 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 2**62, "maxItems": 2**62},
        {"type": "integer", "minimum": -1e308, "maximum": 1e308, "multipleOf": 5e-324},
        {"type": "string", "pattern": "^(a{1,1000}){1,1000}$"},
        {"type": "string", "format": "duration"},
        {"type": "string", "format": "cidr"},
        {"x-kubernetes-int-or-string": True},
    ],
    ids=lambda schema: "-".join(schema),
)
async def test_a_schema_with_huge_bounds(api: Api, schema: dict[str, Any]) -> None:
    made = await api.post(CRDS, crd("", p=schema))
    assert made.code in (201, 422)
    values: tuple[Any, ...] = (2**63 - 1, 10**18, DIGITS, f"{DIGITS}h", f"1.2.3.4/{DIGITS}", [], "a" * 9000)
    for value in values:
        body = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"p": value}}
        check_responses(await api.post("/apis/example.com/v1/namespaces/default/boats?dryRun=All", body))


@pytest.mark.parametrize(
    ("format_", "text"),
    [("duration", "9" * 300_000), ("email", " " * 300_000), ("email", '"' * 300_000), ("date-time", "0" * 300_000)],
    ids=["duration", "email of spaces", "email of quotes", "time"],
)
async def test_a_long_text_of_a_format_is_checked_in_linear_time(api: Api, format_: str, text: str) -> None:
    await api.create(CRDS, crd("", p={"type": "string", "format": format_}))
    body = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"p": text}}
    check_responses(await api.post("/apis/example.com/v1/namespaces/default/boats?dryRun=All", body))


BEGINNINGS = (b"-----BEGIN A-----\n" * 50_000, b"-----BEGIN " * 80_000, b"-----BEGIN A-----" + b"\n" * 800_000)


@pytest.mark.parametrize("pem", BEGINNINGS, ids=["lines", "one line", "new lines"])
async def test_a_crd_whose_bundle_only_begins_is_not_served(api: Api, pem: bytes) -> None:
    body = crd("")
    config = {"url": "https://127.0.0.1:1/", "caBundle": base64.b64encode(pem).decode()}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": config}
    body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    assert (await api.post(CRDS, body)).code == 201
    assert (await api.get("/apis/example.com/v1")).code == 404
