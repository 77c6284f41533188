"""Where kube-apiserver answers 500 to a client's mistake, or tells it twice, and this server does not.

Source: apiserver pkg/storage/{api_object_versioner,cacher}, pkg/registry/rest/update.go (1.36).
"""

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, config_map, some_config_maps

NO_REVISIONS = ["abc", "-1", "1.5", "99999999999999999999"]


@pytest.mark.parametrize("revision", NO_REVISIONS)
@pytest.mark.parametrize("path", [f"{CONFIG_MAPS}/cm-0?", f"{CONFIG_MAPS}?", f"{CONFIG_MAPS}?watch=1&"])
async def test_what_is_no_revision_cannot_be_read_from(api: Api, path: str, revision: str) -> None:
    """kube-apiserver says 400 for lists alone, and 500 for get and watch, which clients try again."""
    await some_config_maps(api, 1)
    answer = await api.get(f"{path}resourceVersion={revision}")
    assert (answer.code, answer.reason) == (400, "BadRequest")


@pytest.mark.parametrize("revision", NO_REVISIONS)
async def test_what_is_no_revision_is_not_the_one_that_is_stored(api: Api, revision: str) -> None:
    """kube-apiserver says 500; after 409 a client reads the object anew, which mends it."""
    await some_config_maps(api, 1)
    changed = config_map("cm-0")
    changed["metadata"]["resourceVersion"] = revision
    answer = await api.put(f"{CONFIG_MAPS}/cm-0", changed)
    assert (answer.code, answer.reason) == (409, "Conflict")


async def test_what_cannot_change_is_told_once(api: Api) -> None:
    """kube-apiserver gives the cause twice: it looks at the metadata in two places. The message says it once."""
    await some_config_maps(api, 1)
    answer = await api.patch(f"{CONFIG_MAPS}/cm-0", {"metadata": {"uid": "x"}}, "merge")
    assert (answer.code, [cause["field"] for cause in answer.causes]) == (422, ["metadata.uid"])
    assert answer.message == 'ConfigMap "cm-0" is invalid: metadata.uid: Invalid value: "x": field is immutable'
