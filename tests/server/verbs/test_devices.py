"""Kinds of resource.k8s.io, in the words of kube-apiserver 1.36.3."""

from typing import Any

import pytest

from tests.server.cluster import Api

_CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
_CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
_TEMPLATES = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
_SLICES = "/apis/resource.k8s.io/v1/resourceslices"
_ATTRIBUTE = "device.attributes['a.b']"
_NESTED = f"{_ATTRIBUTE}.all(d, {_ATTRIBUTE}.all(e, {_ATTRIBUTE}.all(f, {_ATTRIBUTE}.all(g, d + e == f + g))))"


def _class(expression: str) -> dict[str, Any]:
    return {"metadata": {"name": "c"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}


def _claim_spec(**request: Any) -> dict[str, Any]:
    return {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", **request}}]}}


@pytest.mark.parametrize(
    "expression",
    [
        "device.driver == 'x'",
        f"{_ATTRIBUTE}.flag",
        f"{_ATTRIBUTE}.c.isGreaterThan(semver('1.0.0'))",
        "device.capacity['a.b'].c.compareTo(quantity('1Gi')) >= 0",
        "device.allowMultipleAllocations",
        f"cel.bind(x, {_ATTRIBUTE}, x.c == 1)",
    ],
)
async def test_a_selector_that_reports_whether_a_device_fits_is_taken(api: Api, expression: str) -> None:
    await api.create(_CLASSES, _class(expression))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("device.foo", "compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n | device.foo\n | ......^"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        (_ATTRIBUTE, "must evaluate to bool or the unknown type, not map(string, google.protobuf.Any)"),
        (
            f"{_ATTRIBUTE}.c.exists(x, x)",
            "compilation failed: ERROR: <input>:1:25: expression of type 'any' cannot be range of a comprehension "
            f"(must be list, map, or dynamic)\n | {_ATTRIBUTE}.c.exists(x, x)\n | ........................^",
        ),
    ],
    ids=["unknown field", "text", "map", "range"],
)
async def test_any_other_selector_is_refused(api: Api, expression: str, text: str) -> None:
    response = await api.post(_CLASSES, _class(expression))
    assert (response.code, response.reason) == (422, "Invalid")
    [cause] = response.body["details"]["causes"]
    assert cause["field"] == "spec.selectors[0].cel.expression"
    assert cause["message"].endswith(f": {text}")


async def test_a_selector_that_may_cost_too_much_is_refused(api: Api) -> None:
    response = await api.post(_CLASSES, _class(_NESTED))
    assert response.message.endswith("spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit")


async def test_selectors_of_claims_are_compiled(api: Api) -> None:
    spec = _claim_spec(selectors=[{"cel": {"expression": "1"}}])
    response = await api.post(_CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
    assert response.message.endswith(
        'spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "1": '
        "must evaluate to bool or the unknown type, not int"
    )


@pytest.mark.parametrize("path", [_CLAIMS, _TEMPLATES])
async def test_admin_access_to_devices_needs_a_labelled_namespace(api: Api, path: str) -> None:
    spec = _claim_spec(adminAccess=True)
    obj = {"metadata": {"name": "c"}, "spec": spec if path == _CLAIMS else {"spec": spec}}
    response = await api.post(path, obj)
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.message.endswith(
        "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the "
        "`resource.kubernetes.io/admin-access: true` label on the containing namespace"
    )
    labels = {"resource.kubernetes.io/admin-access": "true"}
    assert (await api.patch("/api/v1/namespaces/default", {"metadata": {"labels": labels}})).code == 200
    await api.create(path, obj)


async def test_the_tolerations_of_a_request_are_checked(api: Api) -> None:
    spec = _claim_spec(tolerations=[{"key": "k", "operator": "Exists", "value": "v", "effect": "x"}])
    response = await api.post(_CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
    causes = {cause["field"].rpartition(".")[2]: cause["message"] for cause in response.body["details"]["causes"]}
    assert causes == {
        "value": 'Invalid value: "v": must be empty for operator `Exists`',
        "effect": 'Unsupported value: "x": supported values: "NoExecute", "NoSchedule", "None"',
    }


def _slice(**device: Any) -> dict[str, Any]:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.e", "allNodes": True, "pool": pool, "devices": [{"name": "d", **device}]}
    return {"metadata": {"name": "s"}, "spec": spec}


@pytest.mark.parametrize(
    ("device", "field", "text"),
    [
        ({"attributes": {"a": {}}}, "attributes[a]", 'Invalid value: "": exactly one value must be specified'),
        (
            {"attributes": {"a": {"version": "1"}}},
            "attributes[a].version",
            'Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
        ),
        (
            {"attributes": {"a": {"string": "x" * 65}}},
            "attributes[a].string",
            "Too long: may not be more than 64 bytes",
        ),
        ({"taints": [{"key": "k"}]}, "taints[0].effect", "Required value"),
        (
            {"capacity": {"c": {"value": "1", "requestPolicy": {"default": "1"}}}},
            "capacity[c].requestPolicy",
            "Forbidden: allowMultipleAllocations must be true",
        ),
        (
            {
                "allowMultipleAllocations": True,
                "capacity": {
                    "c": {"value": "4", "requestPolicy": {"default": "3", "validRange": {"min": "2", "step": "2"}}}
                },
            },
            "capacity[c].requestPolicy.validRange.step",
            'Invalid value: "3": value is not a multiple of a given step (2) from (2)',
        ),
        (
            {"bindingFailureConditions": ["a"]},
            "bindingConditions",
            "Invalid value: null: bindingConditions are required to use bindingFailureConditions",
        ),
    ],
    ids=["no value", "version", "long", "taint", "policy", "step", "conditions"],
)
async def test_the_devices_of_a_slice_are_checked(api: Api, device: dict[str, Any], field: str, text: str) -> None:
    response = await api.post(_SLICES, _slice(**device))
    assert response.code == 422
    assert {"field": f"spec.devices[0].{field}", "message": text} in [
        {"field": cause["field"], "message": cause["message"]} for cause in response.body["details"]["causes"]
    ]


async def test_a_taint_of_a_device_is_from_now_on(api: Api) -> None:
    made = await api.create(_SLICES, _slice(taints=[{"key": "k", "effect": "NoSchedule"}]))
    assert made["spec"]["devices"][0]["taints"][0]["timeAdded"]


async def test_a_device_that_is_not_allocated_has_no_status(api: Api) -> None:
    await api.create(_CLAIMS, {"metadata": {"name": "c"}, "spec": _claim_spec()})
    device = {"driver": "d", "pool": "p", "device": "x"}
    response = await api.patch(f"{_CLAIMS}/c/status", {"status": {"devices": [device]}})
    assert response.code == 422
    assert response.message.endswith("must be an allocated device in the claim")


async def test_an_invalid_change_of_a_template_reports_its_faults_and_that_it_is_immutable(api: Api) -> None:
    obj = {"metadata": {"name": "c"}, "spec": {"spec": _claim_spec()}}
    await api.create(_TEMPLATES, obj)
    response = await api.put(f"{_TEMPLATES}/c", {**obj, "spec": {"spec": _claim_spec(deviceClassName="")}})
    assert [cause["field"] for cause in response.causes] == [
        "spec.spec.devices.requests[0].exactly.deviceClassName",
        "spec",
    ]
