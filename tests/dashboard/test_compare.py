"""Comparisons of two objects of a kind, and of an object with a pasted manifest."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer

MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"
COMPARE = "compare/core/v1/configmaps/default/one"


def secret(name: str, value: str) -> dict[str, Any]:
    """Return a Secret."""
    return {"metadata": {"name": name}, "stringData": {"password": value}}


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    one, two, same = (config_map(name) for name in ("one", "two", "same"))
    for each, colour in ((one, "red"), (two, "blue"), (same, "red")):
        each["data"] = {"colour": colour, "size": "5"}
    one["metadata"]["labels"] = {"app": "one"}
    server.create(MAPS, one, same)
    server.create("/api/v1/namespaces/shop/configmaps", two)
    server.create(SECRETS, secret("a", "hunter2"), secret("b", "hunter3"))


def lines(page: Page) -> list[str]:
    """Return the lines of the comparison with their signs, without those that are equal."""
    expect(page.get_by_role("region", name="Lines that differ")).to_be_visible()
    found = page.locator(".lines td.gone, .lines td.new").all_inner_texts()
    return [re.sub(r"\s+", " ", each).strip() for each in found]


def test_two_objects_differ_in_what_users_write(chromium: Browser) -> None:
    with chromium.page(f"{COMPARE}?with=shop/two") as page:
        shown = lines(page)
        assert any("colour: red" in each for each in shown)
        assert any("colour: blue" in each for each in shown)
        assert not re.search("resourceVersion|uid|creationTimestamp|managedFields|name: one|namespace", str(shown))
        assert any("app: one" in each for each in shown)
        page.get_by_role("button", name="Without metadata").click()
        expect(page.locator(".lines")).not_to_contain_text("app: one")
        page.get_by_role("button", name="Side by side").click()
        expect(page.locator(".lines.split")).to_be_visible()
        assert "only=spec" in page.url
        assert "view=split" in page.url
        page.reload()
        expect(page.locator(".lines.split")).to_be_visible()
        expect(page.get_by_role("button", name="Without metadata")).to_have_attribute("aria-pressed", "true")


def test_the_other_object_is_chosen_among_those_of_all_namespaces(chromium: Browser) -> None:
    with chromium.page("object/core/v1/configmaps/default/one") as page:
        page.get_by_role("button", name="Actions").click()
        page.get_by_role("button", name="Compare with…").click()
        expect(page.get_by_text("Choose another object, or paste a manifest.")).to_be_visible()
        expect(page.locator("#compare-names option[value='shop/two']")).to_have_count(1)
        expect(page.locator("#compare-names option[value='default/one']")).to_have_count(0)
        field = page.get_by_role("combobox", name="Compare with")
        field.fill("shop/two")
        field.press("Enter")
        assert any("colour: blue" in each for each in lines(page))
        field.fill("same")
        field.press("Enter")
        page.get_by_role("button", name="Without metadata").click()
        expect(page.get_by_text("The two states have the same fields.")).to_be_visible()
        field.fill("absent")
        field.press("Enter")
        expect(page.get_by_text('"absent" not found')).to_be_visible()


def test_a_pasted_manifest_does_not_leave_the_browser(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page(COMPARE) as page:
        sent: list[str] = []
        page.on("request", lambda request: sent.append(f"{request.url} {request.post_data or ''}"))
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
        page.get_by_role("button", name="With a manifest").click()
        expect(page.get_by_text("The text stays in this browser")).to_be_visible()
        text = page.get_by_role("textbox", name="Manifest")
        text.fill(
            "kind: ConfigMap\nmetadata:\n  name: one\n  labels: {app: one}\ndata:\n  colour: ultramarine\n  size: '5'\n"
        )
        shown = lines(page)
        assert any("colour: ultramarine" in each for each in shown)
        assert not any("size" in each for each in shown)
        assert "ultramarine" not in page.url + str(sent)
        text.fill("data: [")
        expect(page.get_by_role("alert")).to_be_visible()


def test_values_of_secrets_stay_hidden(chromium: Browser) -> None:
    with chromium.page("compare/core/v1/secrets/default/a?with=default/b") as page:
        assert any("password" in each for each in lines(page))
        assert "aHVudGVy" not in page.content()


def test_two_rows_of_a_list_are_compared(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default,shop&q=/^(one|two)$/") as page:
        row = page.get_by_role("row", name="one")
        expect(row).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("=")
        expect(page.get_by_text("Choose the row to compare with")).to_be_visible()
        page.keyboard.press("=")
        expect(page.get_by_text("Choose the row to compare with")).to_have_count(0)
        row.get_by_role("gridcell").last.click(modifiers=["Control"])
        expect(page.get_by_text("Choose the row to compare with default/one.")).to_be_visible()
        page.get_by_role("row", name="two").get_by_role("gridcell").last.click()
        assert any("colour: blue" in each for each in lines(page))
        assert page.url.endswith("/compare/core/v1/configmaps/default/one?with=shop/two")
