"""MutatingAdmissionPolicy: what becomes of objects."""

from typing import Any

import pytest

from tests.server.admission.policy.policies import API_VERSION, EVERY_MAP, MAPS, Json, binding, config_map, enforce
from tests.server.cluster import Api

PODS = "/api/v1/namespaces/default/pods"
EVERY_POD = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}


def mutating(*mutations: str, name: str = "p", again: str = "Never", **spec: Any) -> Json:
    """A MutatingAdmissionPolicy; expressions that begin with a bracket are JSON patches."""
    return {
        "kind": "MutatingAdmissionPolicy",
        "apiVersion": API_VERSION,
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [{**EVERY_MAP, "operations": ["CREATE", "UPDATE"]}]},
            "reinvocationPolicy": again,
            "mutations": [_mutation(text) for text in mutations],
            **spec,
        },
    }


def _mutation(text: str) -> Json:
    if text.startswith("["):
        return {"patchType": "JSONPatch", "jsonPatch": {"expression": text}}
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}


def bound(name: str = "b", policy: str = "p", **spec: Any) -> Json:
    """A MutatingAdmissionPolicyBinding."""
    made = binding(name, policy, **spec)
    made["kind"] = "MutatingAdmissionPolicyBinding"
    del made["spec"]["validationActions"]
    return made


async def enforce_all(api: Api, *policies: Json) -> None:
    """Each policy with a binding."""
    for policy in policies:
        name = policy["metadata"]["name"]
        await enforce(api, policy, bound(f"{name}-b", name))


@pytest.mark.parametrize(
    "expression",
    [
        "Object{data: {'added': 'yes'}}",
        "[JSONPatch{op: 'add', path: '/data/added', value: 'yes'}]",
        "[JSONPatch{op: 'test', path: '/data/own', value: '1'}, "
        "JSONPatch{op: 'add', path: '/data/added', value: 'yes'}]",
        "Object{data: {'added': object.data.own == '1' ? 'yes' : 'no'}}",
    ],
    ids=["apply", "patch", "patch with test", "computed"],
)
async def test_an_object_is_changed(api: Api, expression: str) -> None:
    await enforce_all(api, mutating(expression))
    assert (await api.create(MAPS, config_map(data={"own": "1"})))["data"] == {"own": "1", "added": "yes"}


async def test_a_patch_whose_test_fails_changes_nothing(api: Api) -> None:
    await enforce_all(
        api, mutating("[JSONPatch{op: 'remove', path: '/data/a'}, JSONPatch{op: 'test', path: '/data/b', value: '2'}]")
    )
    assert (await api.create(MAPS, config_map(data={"a": "1", "b": "1"})))["data"] == {"a": "1", "b": "1"}


async def test_keys_of_paths_are_escaped(api: Api) -> None:
    expression = (
        "[JSONPatch{op: 'add', path: '/metadata/labels', value: {}}, "
        "JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'd'}]"
    )
    await enforce_all(api, mutating(expression))
    assert (await api.create(MAPS, config_map()))["metadata"]["labels"] == {"a.b/c": "d"}


async def test_lists_are_merged_by_their_keys_and_defaulted(api: Api) -> None:
    expression = (
        "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'main', imagePullPolicy: 'Always'}, "
        "Object.spec.containers{name: 'side', image: 'busybox:1'}]}}"
    )
    await enforce_all(api, mutating(expression, matchConstraints={"resourceRules": [EVERY_POD]}))
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "busybox:2"}]}}
    stored = (await api.create(PODS, pod))["spec"]["containers"]
    assert [(each["name"], each["image"], each["imagePullPolicy"]) for each in stored] == [
        ("main", "busybox:2", "Always"),
        ("side", "busybox:1", "IfNotPresent"),
    ]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (
            "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'main', command: ['a']}]}}",
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
            ".spec.containers[0].command",
        ),
        (
            "Object{spec: Object.spec{nothing: 1}}",
            "error applying patch: failed to convert patch object to typed object: .spec.nothing: field not declared "
            "in schema",
        ),
        (
            "Object{spec: Object.metadata{hostNetwork: true}}",
            'type mismatch: unexpected type name "Object.metadata", expected "Object.spec", which matches field name '
            "path from root Object type",
        ),
        (
            "Object{spec: Object.spec{hostname: object.spec.nothing}}",
            "expression 'Object{spec: Object.spec{hostname: object.spec.nothing}}' resulted in error: no such key: "
            "nothing",
        ),
        (
            "[JSONPatch{op: 'remove', path: '/nothing'}]",
            "JSON Patch: error in remove for path: '/nothing': Unable to remove nonexistent key: nothing: missing "
            "value",
        ),
        ("[JSONPatch{op: 'frob', path: '/a'}]", "JSON Patch: Unexpected kind: frob"),
    ],
    ids=["atomic list", "unknown field", "wrong type name", "error", "patch does not fit", "unknown operation"],
)
async def test_an_expression_that_cannot_be_applied_is_refused(api: Api, expression: str, text: str) -> None:
    await enforce_all(api, mutating(expression, matchConstraints={"resourceRules": [EVERY_POD]}))
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
    response = await api.post(PODS, pod)
    assert (response.code, response.reason) == (403, "Invalid")
    assert response.message == f"policy 'p' with binding 'p-b' denied request: {text}"
    assert response.causes == [{"message": response.message}]


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        (
            "{op: 'add', path: '/bogus', value: 'x'}",
            'Internal error occurred: strict decoding error: unknown field "bogus"',
        ),
        (
            "{op: 'replace', path: '/kind', value: 'Secret'}",
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (
            "{op: 'replace', path: '/apiVersion', value: 'v2'}",
            'Internal error occurred: no kind "ConfigMap" is registered for version "v2"',
        ),
    ],
    ids=["unknown field", "other kind", "other version"],
)
async def test_a_patch_makes_nothing_of_another_type(api: Api, patch: str, text: str) -> None:
    await enforce_all(api, mutating(f"[JSONPatch{patch}]"))
    response = await api.post(MAPS, config_map())
    assert (response.code, response.message) == (500, text)


async def test_failures_may_be_ignored(api: Api) -> None:
    await enforce_all(api, mutating("Object{data: {'a': object.data.b}}", failurePolicy="Ignore"))
    assert "data" not in await api.create(MAPS, config_map())


async def test_mutations_follow_each_other(api: Api) -> None:
    first, second = "Object{data: {'a': '1'}}", "Object{data: {'b': object.data.a + '2'}}"
    await enforce_all(api, mutating(first, second))
    assert (await api.create(MAPS, config_map()))["data"] == {"a": "1", "b": "12"}


@pytest.mark.parametrize(("again", "data"), [("Never", "0"), ("IfNeeded", "1")])
async def test_a_policy_may_be_applied_again_after_later_policies(api: Api, again: str, data: str) -> None:
    count = "Object{data: {'count': object.?data.late.hasValue() ? '1' : '0'}}"
    await enforce_all(api, mutating(count, again=again), mutating("Object{data: {'late': 'yes'}}", name="q"))
    assert (await api.create(MAPS, config_map()))["data"] == {"count": data, "late": "yes"}


async def test_policies_that_undo_each_other_end(api: Api) -> None:
    names = ("p", "q")
    await enforce_all(
        api, *(mutating(f"Object{{data: {{'owner': '{name}'}}}}", name=name, again="IfNeeded") for name in names)
    )
    assert (await api.create(MAPS, config_map()))["data"] == {"owner": "q"}


async def test_conditions_and_variables_are_looked_at(api: Api) -> None:
    policy = mutating(
        "Object{data: {'name': variables.upper}}",
        variables=[{"name": "upper", "expression": "object.metadata.name.upperAscii()"}],
        matchConditions=[{"name": "only-a", "expression": "object.metadata.name == 'a'"}],
    )
    await enforce_all(api, policy)
    assert (await api.create(MAPS, config_map()))["data"] == {"name": "A"}
    assert "data" not in await api.create(MAPS, config_map("b"))


async def test_an_update_is_changed_too(api: Api) -> None:
    await api.create(MAPS, config_map())
    await enforce_all(api, mutating("Object{data: {'old': string(has(oldObject.data))}}"))
    assert (await api.patch(f"{MAPS}/a", {"data": {"a": "1"}})).body["data"] == {"a": "1", "old": "false"}


async def test_a_policy_for_custom_resources(api: Api) -> None:
    names = {"plural": "shirts", "singular": "shirt", "kind": "Shirt", "listKind": "ShirtList"}
    spec = {"type": "object", "properties": {"colour": {"type": "string"}, "size": {"type": "string", "default": "M"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd = {
        "metadata": {"name": "shirts.example.com"},
        "spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await api.create(definitions, {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", **crd})
    rule = {"operations": ["CREATE"], "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["shirts"]}
    await enforce_all(
        api, mutating("Object{spec: Object.spec{colour: 'red'}}", matchConstraints={"resourceRules": [rule]})
    )
    shirt = {"kind": "Shirt", "apiVersion": "example.com/v1", "metadata": {"name": "a"}}
    stored = await api.create("/apis/example.com/v1/namespaces/default/shirts", shirt)
    assert stored["spec"] == {"colour": "red", "size": "M"}


async def test_mutations_are_counted_with_how_they_fail(api: Api) -> None:
    good = "Object{metadata: Object.metadata{labels: {'m': '1'}}}"
    bad = "Object{metadata: Object.metadata{labels: {'m': object.data.nothing}}}"
    await enforce_all(api, mutating(good, bad))
    assert (await api.post(MAPS, config_map())).code == 403
    name = "apiserver_mutating_admission_policy_check_total"
    text = (await api.client.get("/metrics")).body.decode()
    assert sorted(line for line in text.splitlines() if line.startswith(name)) == [
        f'{name}{{error_type="{kind}",policy="p",policy_binding="p-b"}} 1.0' for kind in ("invalid_error", "no_error")
    ]
