"""Rows of Tables that show the page which objects a controller has not seen."""

from typing import Any

from tests.server.cluster import Api

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MERGE = {"content_type": "application/merge-patch+json"}


async def conditions(api: Api) -> Any:
    table = (await api.fetch("GET", DEPLOYMENTS, accept=TABLE)).body
    return table["rows"][0].get("conditions")


async def test_a_row_shows_that_its_last_change_was_not_observed(api: Api) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    await api.fetch("POST", DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec})
    assert await conditions(api) is None
    await api.fetch("PATCH", f"{DEPLOYMENTS}/web/status", {"status": {"observedGeneration": 1}}, **MERGE)
    assert await conditions(api) is None
    await api.fetch("PATCH", f"{DEPLOYMENTS}/web", {"spec": {"replicas": 2}}, **MERGE)
    [condition] = await conditions(api)
    assert (condition["type"], condition["status"]) == ("Observed", "False")
    assert condition["message"] == "generation 2 was not observed; the last one is 1"
    await api.fetch("PATCH", f"{DEPLOYMENTS}/web/status", {"status": {"observedGeneration": 2}}, **MERGE)
    assert await conditions(api) is None
