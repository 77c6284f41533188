"""Completion and descriptions in the editor, from the OpenAPI document of the server, for CRDs at once."""

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.editing import CRDS, create_ships, editor, line, ship
from tests.dashboard.samples import HOSTILE, config_map, crd, deployment
from tests.dashboard.server import DashboardServer

INTERACTION_MS = 100
"""Time after which the editor takes keys for its list of completions: a list may appear just before the key."""
ONE = "edit/harbour.example.com/v1/ships/default/one"


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    create_ships(server, ship("one", crew=[{"name": "Ada", "role": "cook"}]))
    server.create("/apis/apps/v1/namespaces/default/deployments", deployment("web"))


def below(page: Page, text: str, typed: str) -> None:
    """Type in a new line below one."""
    line(page, text).click()
    page.keyboard.press("End")
    page.keyboard.insert_text("\n" + typed[:-1])
    page.keyboard.type(typed[-1])


def options(page: Page) -> list[str]:
    """Return the completions."""
    found = page.get_by_role("listbox", name="Completions").get_by_role("option")
    expect(found.first).to_be_visible()
    return found.all_inner_texts()


def test_fields_of_a_custom_resource_are_completed(chromium: Browser) -> None:
    with chromium.page(ONE) as page:
        below(page, "size: 12", "  po")
        assert options(page) == ["portstring"]
        expect(page.locator(".cm-completionInfo")).to_have_count(0)
        page.wait_for_timeout(INTERACTION_MS)
        page.keyboard.press("Enter")
        expect(line(page, "  port:")).to_be_visible()


def test_a_path_with_dots_leads_to_the_fields_inside(chromium: Browser) -> None:
    with chromium.page(ONE) as page:
        line(page, "kind: Ship").click()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.keyboard.type("spec.")
        found = [each.partition("int")[0].partition("str")[0] for each in options(page)]
        assert found[0].startswith("spec.size")
        assert {"spec.masts", "spec.port"} <= set(found)


def test_an_enum_offers_its_values_and_a_default_is_named(chromium: Browser) -> None:
    with chromium.page(ONE) as page:
        below(page, "size: 12", "  colour: ")
        page.keyboard.press("Control+Space")
        assert options(page) == ["red", "white"]
        page.keyboard.press("Escape")
        page.keyboard.insert_text("red\n  masts: ")
        page.keyboard.press("Control+Space")
        assert options(page) == ["2default"]


def test_required_fields_of_a_list_come_first(chromium: Browser) -> None:
    with chromium.page(ONE) as page:
        below(page, "role: cook", "    - ")
        page.keyboard.press("Control+Space")
        assert options(page) == ["namestring, required", "rolestring"]


def test_fields_of_containers_are_completed_without_those_that_are_there(chromium: Browser) -> None:
    with chromium.page("edit/apps/v1/deployments/default/web") as page:
        below(page, "imagePullPolicy", "          im")
        page.keyboard.press("Control+Space")
        page.keyboard.press("Backspace")
        page.keyboard.press("Backspace")
        page.keyboard.press("Control+Space")
        names = options(page)
        assert "envEnvVar" not in names
        assert [each for each in names if each.startswith("livenessProbe")] != []
        assert [each for each in names if each.startswith(("image", "name"))] == []


def test_a_description_is_shown_on_hover(chromium: Browser) -> None:
    with chromium.page(ONE) as page:
        help_text = page.locator(".field-help")
        for _ in range(50):  # the schema arrives after the text
            line(page, "kind: Ship").hover()
            line(page, "size: 12").get_by_text("size").hover()
            page.wait_for_timeout(400)
            if help_text.count():
                break
        expect(help_text).to_contain_text("size: integer · required")
        expect(help_text).to_contain_text("Length in metres.")


def test_a_crd_of_this_moment_is_completed_and_its_description_is_text(
    server: DashboardServer, chromium: Browser
) -> None:
    with chromium.page("list/core/v1/configmaps") as page:
        expect(page.get_by_role("heading", name="ConfigMaps").first).to_be_visible()
        server.create(CRDS, crd())
        boats = "/apis/harbour.example.com/v1/namespaces/default/boats"
        made = {
            "apiVersion": "harbour.example.com/v1",
            "kind": "Boat",
            "metadata": {"name": "new"},
            "spec": {"size": 1},
        }
        for _ in range(200):
            if server.http.post(boats, json=made).status_code == 201:
                break
            page.wait_for_timeout(50)
        page.goto(f"{chromium.address}/dashboard/edit/harbour.example.com/v1/boats/default/new")
        expect(editor(page)).to_contain_text("kind: Boat")
        page.wait_for_timeout(1000)
        below(page, "size: 1", "  cap")
        assert options(page) == ["captainstring"]
        expect(page.locator(".cm-completionInfo")).to_contain_text(HOSTILE[:30])
        assert page.locator("img[src], main script").count() == 0


def test_a_config_map_without_a_schema_for_its_keys_has_no_completion(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create("/api/v1/namespaces/default/configmaps", config_map("free"))
    with chromium.page("edit/core/v1/configmaps/default/free") as page:
        below(page, "key: value", "  oth")
        expect(page.get_by_text("The server accepts this").or_(page.get_by_text("One error"))).to_be_visible()
        expect(page.get_by_role("listbox")).to_have_count(0)
