"""Histories of objects, for tests of the page: changes by managers, and what a server without them answers."""

from typing import Any, Final

from playwright.sync_api import Locator, Page

from tests.dashboard.samples import deployment
from tests.dashboard.server import DashboardServer

Json = dict[str, Any]
CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"


def patch(server: DashboardServer, path: str, change: Json, manager: str = "kubectl-edit") -> Json:
    """Merge a change into an object as a manager, and return the object."""
    found: Json = server.patch(f"{path}?fieldManager={manager}", change)
    return found


def set_image(server: DashboardServer, name: str, image: str, manager: str = "kubectl-set", **annotations: str) -> Json:
    """Change the image of a Deployment, and annotations of its Pods."""
    container = {"name": "main", "image": image}
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [container]}}
    response = server.http.patch(
        f"{DEPLOYMENTS}/{name}?fieldManager={manager}",
        json={"spec": {"template": template}},
        headers={"Content-Type": "application/strategic-merge-patch+json"},
    )
    assert response.status_code == 200, response.text
    patched: Json = response.json()
    return patched


def fight(server: DashboardServer, name: str, count: int) -> None:
    """Let two managers change the replicas of a Deployment in turn."""
    for i in range(count):
        manager, replicas = (("argocd", 2), ("autoscaler", 5))[i % 2]
        patch(server, f"{DEPLOYMENTS}/{name}", {"spec": {"replicas": replicas}}, manager)


def create_deployment(server: DashboardServer, name: str, **fields: Any) -> Json:
    """Create a Deployment whose container has more fields."""
    made = deployment(name)
    made["spec"]["template"]["spec"]["containers"][0] |= fields
    (created,) = server.create(f"{DEPLOYMENTS}?fieldManager=helm", made)
    return created


def revisions(page: Page) -> Locator:
    """Return the revisions in the list."""
    return page.get_by_role("listbox", name="Revisions").get_by_role("option")


def revision(page: Page, text: str) -> Locator:
    """Return the revision with a text in the list."""
    return revisions(page).filter(has_text=text)
