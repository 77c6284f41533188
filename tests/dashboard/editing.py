"""The editor of the page, for tests: its text, what is typed, and objects with rules."""

import time
from typing import Any, Final

from playwright.sync_api import Locator, Page, expect

from tests.dashboard.server import DashboardServer

Json = dict[str, Any]
SHIPS: Final = "/apis/harbour.example.com/v1/namespaces/default/ships"
CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def ship_crd() -> Json:
    """Return a CRD with an enum, a default, a list with keys, and a rule in CEL."""
    text = {"type": "string"}
    crew = {
        "type": "array",
        "description": "People on board.",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": {"name": text, "role": text}},
    }
    spec = {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "description": "Length in metres."},
            "masts": {"type": "integer", "default": 2, "minimum": 0},
            "colour": {"type": "string", "enum": ["red", "white"], "description": "Colour of the hull."},
            "port": text,
            "crew": crew,
        },
        "x-kubernetes-validations": [
            {"rule": "self.masts < 9", "message": "a ship has less than nine masts", "fieldPath": ".masts"}
        ],
    }
    properties = {"spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "ships.harbour.example.com"},
        "spec": {
            "group": "harbour.example.com",
            "scope": "Namespaced",
            "names": {"plural": "ships", "singular": "ship", "kind": "Ship"},
            "versions": [version],
        },
    }


def ship(name: str, **spec: Any) -> Json:
    """Return a Ship."""
    meta = {"name": name}
    return {"apiVersion": "harbour.example.com/v1", "kind": "Ship", "metadata": meta, "spec": {"size": 12, **spec}}


def create_ships(server: DashboardServer, *ships: Json) -> None:
    """Create the CRD and custom resources as soon as the server serves it."""
    server.create(CRDS, ship_crd())
    for _ in range(100):
        if server.http.get(SHIPS).status_code == 200:
            break
        time.sleep(0.05)
    server.create(SHIPS, *ships)


def editor(page: Page) -> Locator:
    """Return the text field of the editor."""
    return page.locator(".cm-content")


def line(page: Page, text: str) -> Locator:
    """Return the line that contains a text."""
    return page.locator(".cm-line", has_text=text).first


def replace_in_line(page: Page, old: str, new: str) -> None:
    """Replace the end of a line, from a text on, by typing."""
    found = line(page, old)
    found.click()
    page.keyboard.press("End")
    content = found.inner_text()
    for _ in content[content.index(old) :]:
        page.keyboard.press("Backspace")
    page.keyboard.insert_text(new)


def marks(page: Page) -> list[str]:
    """Return the problems below the editor: `Line 7: message`."""
    items = page.get_by_role("region", name="Problems of the text").get_by_role("button")
    expect(items.first).to_be_visible()
    return [" ".join(text.split()) for text in items.all_inner_texts()]
