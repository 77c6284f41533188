"""CRDs whose versions convert through a hub by declared rules."""

import asyncio
from typing import Any

import orjson
import pytest

from tests.server.cluster import Api
from tests.server.custom_resources import CRDS, GROUP, NAME, SHIRTS, change, crd, schema, shirt, version
from tests.server.loop_time import LOOP_STEP_S_MAX, longest_step_time_s
from tests.server.verbs.conftest import api

__all__ = ["api"]

HUBS = "/apis/conversion.sampan.dev/v1alpha1/hubconversions"
SHIRTS_2 = SHIRTS.replace("/v1/", "/v2/")
STRING = {"type": "string"}
INTEGER = {"type": "integer", "minimum": 0, "maximum": 1000}
SIZE = {"type": "string", "enum": ["1cm", "2cm", "30cm"]}
V1 = schema({"color": STRING, "note": STRING, "length": {"type": "integer", "enum": [1, 2, 30]}, "same": STRING})
V2 = schema(
    {
        "look": {"type": "object", "properties": {"color": STRING, "shade": STRING}},
        "length": SIZE,
        "same": STRING,
    }
)
MOVE = {"hub": ".spec.color", "field": ".spec.look.color"}
LENGTH = {"hub": ".spec.length", "toHub": "int(self.replace('cm', ''))", "fromHub": "string(self) + 'cm'"}


def hub(*rules: Any, **spec: Any) -> Any:
    """The conversion of shirts."""
    return {
        "apiVersion": "conversion.sampan.dev/v1alpha1",
        "kind": "HubConversion",
        "metadata": {"name": NAME},
        "spec": {"versions": [{"name": "v2", "fields": list(rules)}], **spec},
    }


async def two(api: Api, *, conversion: Any = None) -> None:
    """Shirts in v1 (stored) and v2, with a conversion."""
    columns = [{"name": "Colour", "type": "string", "jsonPath": ".spec.look.color"}]
    await api.create(CRDS, crd(version("v1", V1), version("v2", V2, storage=False, additionalPrinterColumns=columns)))
    await api.create(HUBS, hub(MOVE, LENGTH) if conversion is None else conversion)


async def raw(api: Api, name: str) -> Any:
    row = await api.cluster.store.get(f"/registry/{GROUP}/shirts/default/{name}")
    assert row is not None
    return orjson.loads(row.value)


async def test_a_field_moves_and_a_value_is_converted(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue", "length": 30, "same": "x"}))
    read = (await api.get(f"{SHIRTS_2}/a")).body
    assert read["spec"] == {"look": {"color": "blue"}, "length": "30cm", "same": "x"}
    assert "annotations" not in read["metadata"]


async def test_objects_written_in_the_other_version_are_stored_in_the_hub(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS_2, shirt("a", {"look": {"color": "red", "shade": "dark"}, "length": "2cm"}, api="v2"))
    stored = await raw(api, "a")
    assert (stored["apiVersion"], stored["spec"]) == (f"{GROUP}/v1", {"color": "red", "length": 2})
    read = (await api.get(f"{SHIRTS_2}/a")).body
    assert read["spec"] == {"look": {"color": "red", "shade": "dark"}, "length": "2cm"}


async def test_a_field_missing_in_a_version_survives_an_update_through_it(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue", "note": "keep"}))
    read = (await api.get(f"{SHIRTS_2}/a")).body
    read["spec"]["look"]["color"] = "green"
    assert (await api.put(f"{SHIRTS_2}/a", read)).code == 200
    read = (await api.get(f"{SHIRTS}/a")).body
    assert read["spec"] == {"color": "green", "note": "keep"}
    assert "annotations" not in read["metadata"]


async def test_an_update_without_the_annotation_loses_nothing_that_it_does_not_change(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue", "note": "keep"}))
    fresh = shirt("a", {"look": {"color": "green"}}, api="v2")
    fresh["metadata"]["resourceVersion"] = (await api.get(f"{SHIRTS_2}/a")).metadata["resourceVersion"]
    assert (await api.put(f"{SHIRTS_2}/a", fresh)).code == 200
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"color": "green", "note": "keep"}


async def test_lists_watches_and_tables_are_in_the_version_requested(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue"}))
    listed = (await api.get(SHIRTS_2)).body
    assert listed["items"][0]["spec"] == {"look": {"color": "blue"}}
    async with api.watch(f"{SHIRTS_2}?watch=1") as watch:
        assert (await watch.event())["object"]["spec"] == {"look": {"color": "blue"}}
    table = (await api.get(SHIRTS_2, accept="application/json;as=Table;g=meta.k8s.io;v=v1")).body
    assert [row["cells"][1] for row in table["rows"]] == ["blue"]


async def test_fields_applied_in_one_version_are_owned_in_the_other(api: Api) -> None:
    await two(api)
    await api.apply(f"{SHIRTS}/a", shirt("a", {"color": "blue"}), "fieldManager=one")
    other = shirt("a", {"look": {"color": "red"}}, api="v2")
    conflict = await api.apply(f"{SHIRTS_2}/a", other, "fieldManager=two")
    assert conflict.code == 409
    assert conflict.causes[0]["field"] == ".spec.color"


async def test_ready_reports_that_the_conversion_is_in_use(api: Api) -> None:
    await two(api)
    (condition,) = (await api.get(f"{HUBS}/{NAME}")).body["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Ready", "True")


async def test_objects_of_the_old_storage_version_are_converted_when_it_changes(api: Api) -> None:
    await two(api, conversion=hub(MOVE, LENGTH, hubVersion="v1"))
    await api.create(SHIRTS, shirt("a", {"color": "blue", "note": "keep"}))

    def store_v2(obj: Any) -> None:
        obj["spec"]["versions"][0]["storage"] = False
        obj["spec"]["versions"][1]["storage"] = True

    assert (await change(api, store_v2)).code == 200
    assert (await api.get(f"{SHIRTS_2}/a")).body["spec"] == {"look": {"color": "blue"}}
    assert (await api.get(f"{SHIRTS}/a")).body["spec"] == {"color": "blue", "note": "keep"}


async def test_a_conversion_that_goes_leaves_conversion_none(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue", "same": "x"}))
    await api.delete(f"{HUBS}/{NAME}")
    assert (await api.get(f"{SHIRTS_2}/a")).body["spec"] == {"same": "x"}


async def test_a_crd_that_no_longer_fits_makes_other_versions_fail(api: Api) -> None:
    await two(api)
    await api.create(SHIRTS, shirt("a", {"color": "blue"}))

    def rename(obj: Any) -> None:
        properties = obj["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        properties["style"] = properties.pop("look")

    assert (await change(api, rename)).code == 200
    assert (await api.get(f"{SHIRTS_2}/a")).code == 500
    assert (await api.get(f"{SHIRTS}/a")).code == 200


@pytest.mark.parametrize(
    ("rules", "field", "text"),
    [
        pytest.param([{**MOVE, "hub": ".spec.x"}, LENGTH], "spec.versions[0].fields[0].hub", "no such field", id="hub"),
        pytest.param([{**MOVE, "field": ".spec.x"}, LENGTH], "spec.versions[0].fields[0].field", "no such", id="field"),
        pytest.param([MOVE, LENGTH, MOVE], "spec.versions[0].fields[2].hub", "another rule", id="twice"),
        pytest.param([MOVE], "spec.versions[0].fields", "needs a rule", id="types differ"),
        pytest.param([{**LENGTH, "toHub": "self +"}], "spec.versions[0].fields[0].toHub", "compilation", id="syntax"),
        pytest.param([{**LENGTH, "toHub": "self"}], "spec.versions[0].fields[0].toHub", "gives string", id="type"),
        pytest.param([{**LENGTH, "toHub": "1"}], "spec.versions[0].fields[0].", "gets lost", id="lossy"),
        pytest.param([MOVE, {**LENGTH, "default": "x"}], "spec.versions[0].fields[1].default", "allow", id="default"),
    ],
)
async def test_rules_that_lose_something_are_refused(api: Api, rules: Any, field: str, text: str) -> None:
    await api.create(CRDS, crd(version("v1", V1), version("v2", V2, storage=False)))
    response = await api.post(HUBS, hub(*rules))
    assert response.code == 422
    assert any(cause["field"].startswith(field) and text in cause["message"] for cause in response.causes), (
        response.body["message"]
    )


async def test_a_rule_that_loses_something_is_named_once(api: Api) -> None:
    await api.create(CRDS, crd(version("v1", V1), version("v2", V2, storage=False)))
    response = await api.post(HUBS, hub(MOVE, {**LENGTH, "toHub": "int(self + 'x')"}))
    fields = [cause["field"] for cause in response.causes]
    assert fields
    assert all(field.startswith("spec.versions[0].fields[1].") for field in fields), fields


async def test_all_fields_of_hub_conversions_have_descriptions(api: Api) -> None:
    document = (await api.get("/openapi/v3/apis/conversion.sampan.dev/v1alpha1")).body
    [schema] = [each for name, each in document["components"]["schemas"].items() if name.endswith(".HubConversion")]
    spec = schema["properties"]["spec"]
    version = spec["properties"]["versions"]["items"]
    rule = version["properties"]["fields"]["items"]
    described = [schema, spec, schema["properties"]["status"], version, rule, *rule["properties"].values()]
    assert all(each.get("description") for each in described)


async def test_a_conversion_needs_its_crd(api: Api) -> None:
    assert (await api.post(HUBS, hub(MOVE))).code == 422


DIGIT = {"type": "string", "enum": ["1", "2"]}


def ports(**fields: Any) -> Any:
    """A schema with a list of objects."""
    return schema({"ports": {"type": "array", "items": {"type": "object", "properties": {**fields, "a": STRING}}}})


PORTS_1, PORTS_2 = ports(port={"type": "integer", "enum": [1, 2]}), ports(number=DIGIT)


async def test_rules_reach_into_lists(api: Api) -> None:
    await api.create(CRDS, crd(version("v1", PORTS_1), version("v2", PORTS_2, storage=False)))
    rule = {"hub": ".spec.ports[].port", "field": ".spec.ports[].number"}
    (detail,) = (await api.post(HUBS, hub(rule))).body["details"]["causes"]
    assert "is integer in the hub and string at .spec.ports[].number: it needs a rule" in detail["message"]
    await api.create(HUBS, hub({**rule, "toHub": "int(self)", "fromHub": "string(self)"}))
    await api.create(SHIRTS, shirt("a", {"ports": [{"port": 1, "a": "x"}, {"a": "y"}]}))
    assert (await api.get(f"{SHIRTS_2}/a")).body["spec"] == {"ports": [{"number": "1", "a": "x"}, {"a": "y"}]}


async def test_both_paths_of_a_rule_lead_through_the_same_lists(api: Api) -> None:
    await api.create(CRDS, crd(version("v1", PORTS_1), version("v2", V1, storage=False)))
    response = await api.post(HUBS, hub({"hub": ".spec.ports[].a", "field": ".spec.color"}))
    assert "must lead through the same lists as .spec.ports[].a of the hub" in response.message


async def test_the_event_loop_is_not_blocked_while_rules_are_tested(api: Api) -> None:
    wide = schema({f"f{index}": ports(port=INTEGER)["properties"]["spec"] for index in range(400)})
    await api.create(CRDS, crd(version("v1", wide), version("v2", wide, storage=False)))
    assert await longest_step_time_s(api.create(HUBS, hub())) < LOOP_STEP_S_MAX


@pytest.mark.parametrize("path", [HUBS, f"{HUBS}/absent", CRDS, f"{CRDS}/absent"])
async def test_a_deletion_that_changes_nothing_does_not_wait_for_the_controller(api: Api, path: str) -> None:
    async with asyncio.timeout(3):
        assert (await api.delete(f"{path}?dryRun=All")).code in (200, 404)
