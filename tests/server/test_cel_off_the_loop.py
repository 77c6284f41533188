"""The event loop compiles only short expressions: threads compile all others, wherever a client may send them.

A recorder at the one parser finds each place that compiles on the loop. The processor time of the loop's longest turn
shows that nothing else of these requests is long.
"""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from sampan.core.event_loop.offload import INLINE_STEPS_MAX
from sampan.schema.cel.syntax import parser
from sampan.schema.cel.syntax.lexer import tokens
from tests.server.admission.policy.policies import EVERY_MAP, GROUP, MAPS, config_map, failing, validating
from tests.server.admission.policy.test_type_checking import settled
from tests.server.cluster import Api, served
from tests.server.custom_resources import CRDS, NAME, SHIRTS, crd, schema, shirt, version
from tests.server.loop_time import LOOP_STEP_S_MAX, longest_step_time_s
from tests.server.test_hub_conversion import HUBS

LOOP_CHARACTERS_MAX = INLINE_STEPS_MAX // 10
"""The bound is 50 ms on an idle machine; each of these took 0.3 s or more."""
WEBHOOK = {"clientConfig": {"url": "https://127.0.0.1:1/"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]}


def long(variable: str, terms: int = 1200) -> str:
    """A true expression that takes long to compile."""
    return " && ".join([f"(true || {variable} == {number})" for number in range(terms)])


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        yield api


async def policy(api: Api) -> None:
    every = [failing(long("object.metadata.name.size()"), message=str(number)) for number in range(4)]
    bound = {"operations": ["*"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}
    await api.create(
        f"{GROUP}/validatingadmissionpolicies",
        validating(validations=every, matchConstraints={"resourceRules": [EVERY_MAP, bound]}),
    )
    await settled(api, 1)
    made = {"policyName": "p", "validationActions": ["Deny"]}
    await api.create(f"{GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": "b"}, "spec": made})
    await api.create(MAPS, config_map())


async def mutating_policy(api: Api) -> None:
    value = f"[JSONPatch{{op: 'add', path: '/data', value: {{'a': string({long('object.metadata.name.size()')})}}}}]"
    spec = {
        "matchConstraints": {"resourceRules": [{**EVERY_MAP, "operations": ["CREATE"]}]},
        "reinvocationPolicy": "Never",
        "variables": [{"name": "v", "expression": long("object.metadata.name.size()")}],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": value}}],
    }
    await api.create(f"{GROUP}/mutatingadmissionpolicies", {"metadata": {"name": "p"}, "spec": spec})
    made = {"metadata": {"name": "b"}, "spec": {"policyName": "p"}}
    await api.create(f"{GROUP}/mutatingadmissionpolicybindings", made)
    assert (await api.create(MAPS, config_map()))["data"] == {"a": "true"}


def webhook(kind: str) -> Callable[[Api], Awaitable[None]]:
    async def run(api: Api) -> None:
        condition = {"name": "a", "expression": f"false && ({long('object.metadata.name.size()')})"}
        made = {**WEBHOOK, "name": "a.example.com", "rules": [EVERY_MAP], "matchConditions": [condition]}
        await api.create(f"{GROUP}/{kind}", {"metadata": {"name": "a"}, "webhooks": [made]})
        await api.create(MAPS, config_map())

    return run


async def custom_resource(api: Api) -> None:
    small = long("self.length", 400)  # a request that is not large enough for a thread
    rules = [{"rule": small}, {"rule": "true", "messageExpression": f"string({small})"}]
    spec = schema({"length": {"type": "integer"}})
    spec["properties"]["spec"]["x-kubernetes-validations"] = rules
    await api.create(CRDS, crd(version("v1", spec)))
    await api.create(SHIRTS, shirt("a", {"length": 5}))


async def hub_conversion(api: Api) -> None:
    one, two = schema({"a": {"type": "boolean"}}), schema({"b": {"type": "boolean"}})
    await api.create(CRDS, crd(version("v1", one), version("v2", two, storage=False)))
    same = f"self && ({long('1')})"
    rule = {"hub": ".spec.a", "field": ".spec.b", "toHub": same, "fromHub": same}
    made = {"apiVersion": "conversion.sampan.dev/v1alpha1", "kind": "HubConversion", "metadata": {"name": NAME}}
    await api.create(HUBS, {**made, "spec": {"versions": [{"name": "v2", "fields": [rule]}]}})
    await api.create(SHIRTS, shirt("a", {"a": True}))
    read = await api.get(f"{SHIRTS.replace('/v1/', '/v2/')}/a")
    assert read.body["spec"] == {"b": True}, read.body


async def device_class(api: Api) -> None:
    selectors = [{"cel": {"expression": f"device.driver == '{n}' && {long('1')[:9000]})"}} for n in range(3)]
    response = await api.post(
        "/apis/resource.k8s.io/v1/deviceclasses", {"metadata": {"name": "a"}, "spec": {"selectors": selectors}}
    )
    assert response.code == 422  # the expression is cut: it is parsed, and refused


async def unbound_errors(api: Api) -> None:
    response = await api.post(
        f"{GROUP}/validatingadmissionpolicies", validating(validations=[failing("[" + "x," * 12_000 + "1] == []")])
    )
    assert response.code == 422


PLACES: dict[str, Callable[[Api], Awaitable[None]]] = {
    "validating policy": policy,
    "mutating policy": mutating_policy,
    "validating webhook": webhook("validatingwebhookconfigurations"),
    "mutating webhook": webhook("mutatingwebhookconfigurations"),
    "custom resource": custom_resource,
    "hub conversion": hub_conversion,
    "device class": device_class,
    "expression with many errors": unbound_errors,
}


class Recorder:
    """Lengths of the expressions that the loop's thread has parsed."""

    def __init__(self) -> None:
        self._loop_thread = threading.get_ident()
        self.lengths: list[int] = []

    def __call__(self, source: str) -> Any:
        if threading.get_ident() == self._loop_thread:
            self.lengths.append(len(source))
        return tokens(source)


@pytest.mark.parametrize("place", PLACES)
async def test_long_expressions_are_compiled_in_threads(api: Api, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(parser, "tokens", recorder)
    longest_s = await longest_step_time_s(PLACES[place](api))
    assert max(recorder.lengths, default=0) <= LOOP_CHARACTERS_MAX
    assert longest_s < LOOP_STEP_S_MAX


async def test_many_short_expressions_of_one_request_move_to_a_thread(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder()
    monkeypatch.setattr(parser, "tokens", recorder)
    conditions = [failing(f"object.metadata.name != 'a{number}'") for number in range(300)]
    await api.create(f"{GROUP}/validatingadmissionpolicies", validating(validations=conditions))
    assert sum(recorder.lengths) <= LOOP_CHARACTERS_MAX
