"""DeleteOptions that are wrong or odd, and the forms of what a delete answers.

Source: apiserver pkg/endpoints/handlers/delete.go (1.36).
"""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, some_config_maps


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            {"gracePeriodSeconds": "1"},
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        (
            {"gracePeriodSeconds": 1.5},
            "json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
        (
            {"preconditions": {"uid": 5}},
            "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID",
        ),
        (
            {"kind": "Foo"},
            'no kind "Foo" is registered for version "meta.k8s.io/v1"',
        ),
    ],
)
async def test_wrong_options_are_refused_in_the_words_of_go(api: Api, body: Any, text: str) -> None:
    await some_config_maps(api, 1)
    assert (await api.delete(f"{CONFIG_MAPS}/cm-0", body)).message == text


async def test_null_are_no_options(api: Api) -> None:
    await some_config_maps(api, 1)
    assert (await api.delete(f"{CONFIG_MAPS}/cm-0", b"null")).body["status"] == "Success"


@pytest.mark.parametrize("name", ["uid", "resourceVersion"])
async def test_an_empty_precondition_is_one(api: Api, name: str) -> None:
    await some_config_maps(api, 1)
    response = await api.delete(f"{CONFIG_MAPS}/cm-0", {"preconditions": {name: ""}})
    assert (response.code, response.reason) == (409, "Conflict")


async def test_an_empty_propagation_policy_is_none_that_is_known(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.delete(f"{CONFIG_MAPS}/cm-0?propagationPolicy=")
    assert (response.code, response.causes[0]["field"]) == (422, "propagationPolicy")


@pytest.mark.parametrize("form", ["Table", "PartialObjectMetadata"])
async def test_the_status_of_a_delete_has_no_other_form(api: Api, form: str) -> None:
    await some_config_maps(api, 1)
    response = await api.delete(f"{CONFIG_MAPS}/cm-0", accept=f"application/json;as={form};v=v1;g=meta.k8s.io")
    assert (response.code, response.body["kind"], response.body["status"]) == (200, "Status", "Success")


JOBS = "/apis/batch/v1/namespaces/default/jobs"


@pytest.mark.parametrize("path", [f"{JOBS}/a", JOBS])
async def test_a_client_that_deletes_jobs_is_warned_that_their_pods_stay(api: Api, path: str) -> None:
    assert (await api.delete(path)).warnings == [
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
        "set propagationPolicy=Orphan to suppress this warning"
    ]


@pytest.mark.parametrize("options", [{"propagationPolicy": "Orphan"}, {"orphanDependents": True}])
async def test_a_client_that_reports_what_becomes_of_the_pods_of_jobs_is_not_warned(api: Api, options: Any) -> None:
    assert (await api.delete(f"{JOBS}/a", options)).warnings == []
