"""Creation of objects: a skeleton of the schema, an example, a copy, dropped files, several documents."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.editing import CRDS, SHIPS, create_ships, editor, line, ship
from tests.dashboard.samples import HOSTILE, config_map, deployment
from tests.dashboard.server import DashboardServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const options = { dataTransfer: data, bubbles: true, cancelable: true };
  document.querySelector(".cm-content").dispatchEvent(new DragEvent("drop", options));
}"""


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    create_ships(server, ship("one", port="Hull"))
    example = json.dumps(ship("example", colour="red"))
    server.patch(f"{CRDS}/ships.harbour.example.com", {"metadata": {"annotations": {"example": example}}})
    server.create("/apis/apps/v1/namespaces/default/deployments", deployment("web"))


def write(page: Page, text: str) -> None:
    """Replace the whole text."""
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def manifest(name: str, data: str = "x") -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  key: {data}\n"


def results(page: Page) -> list[str]:
    """Return the result of each document."""
    items = page.get_by_role("region", name="Results").get_by_role("listitem")
    expect(items.first).to_be_visible()
    return [" ".join(each.split()) for each in items.all_inner_texts()]


def test_a_skeleton_has_required_fields_and_optional_ones_as_comments(chromium: Browser) -> None:
    with chromium.page("list/harbour.example.com/v1/ships") as page:
        page.get_by_role("button", name="Create", exact=True).click()
        expect(line(page, "size: 0")).to_be_visible()
        lines = [each for each in editor(page).inner_text().split("\n") if each.strip()]
        assert lines[:4] == ["apiVersion: harbour.example.com/v1", "kind: Ship", "metadata:", '  name: ""']
        assert "  # colour: red | white" in lines
        assert "  # masts: 2" in lines
        line(page, 'name: ""').click()
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        page.keyboard.type("fresh")
        page.get_by_role("button", name="Create", exact=True).click()
        assert results(page) == ["Ship fresh created"]


def test_the_example_of_a_crd_is_offered(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("create/harbour.example.com/v1/ships") as page:
        page.get_by_role("button", name="Use the example").click()
        expect(line(page, "colour: red")).to_be_visible()
        expect(page.get_by_text("The server accepts this")).to_be_visible()
        page.get_by_role("button", name="Create", exact=True).click()
        assert results(page) == ["Ship example created"]
    assert server.http.get(f"{SHIPS}/example").json()["spec"]["colour"] == "red"


def test_a_copy_leaves_out_what_the_server_wrote(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/harbour.example.com/v1/ships/default/one") as page:
        page.get_by_role("button", name="Actions").click()
        page.get_by_role("button", name="Copy", exact=True).last.click()
        expect(line(page, "name: one-copy")).to_be_visible()
        expect(editor(page)).not_to_contain_text("resourceVersion")
        line(page, "port: Hull").click()
        page.keyboard.press("End")
        page.keyboard.type(" # as one")
        expect(page.get_by_text("The server accepts this")).to_be_visible()
        page.get_by_role("button", name="Create", exact=True).click()
        assert results(page) == ["Ship one-copy created"]
    assert server.http.get(f"{SHIPS}/one-copy").json()["spec"]["port"] == "Hull"


def test_each_of_several_documents_has_a_result(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("present"))
    with chromium.page("create") as page:
        hostile = f"apiVersion: v1\nkind: Nothing\nmetadata:\n  name: {json.dumps(HOSTILE)}\n"
        write(page, "---\n".join([manifest("first"), manifest("present"), manifest("Wrong"), hostile]))
        expect(page.get_by_role("region", name="Problems of the text")).to_contain_text("The server has no such kind")
        page.get_by_role("button", name="Create 4 objects").click()
        expect(page.get_by_role("region", name="Results").get_by_role("listitem")).to_have_count(4)
        first, present, wrong, unknown = results(page)
        assert first == "ConfigMap first created"
        assert present == "ConfigMap present exists already; not changed"
        assert wrong.startswith("ConfigMap Wrong refused:")
        assert "The server has no such kind" in unknown
        assert page.locator("img[src], main script").count() == 0
    assert server.http.get(f"{CONFIG_MAPS}/present").json()["data"] == {"key": "value"}


def test_a_dropped_file_is_the_text(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("create") as page:
        expect(editor(page)).to_be_visible()
        page.evaluate(DROP, ["a.yaml", manifest("dropped") + "---\n" + manifest("too")])
        expect(page.get_by_role("button", name="Create 2 objects")).to_be_enabled()
        page.get_by_role("button", name="Create 2 objects").click()
        expect(page.get_by_role("region", name="Results").get_by_role("listitem")).to_have_count(2)
    assert server.http.get(f"{CONFIG_MAPS}/too").status_code == 200


def test_a_large_dropped_file_is_refused(chromium: Browser) -> None:
    with chromium.page("create") as page:
        expect(editor(page)).to_be_visible()
        page.evaluate(DROP, ["large.yaml", "x" * 4_000_000])
        expect(page.get_by_role("alert")).to_contain_text("more than 3,000,000 characters")


def test_a_new_secret_is_not_kept(chromium: Browser) -> None:
    with chromium.page("create") as page:
        write(page, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  key: hunter2\n")
        expect(page.get_by_text("This edit is not kept")).to_be_visible()
        assert "hunter2" not in page.evaluate("JSON.stringify({...sessionStorage})")
