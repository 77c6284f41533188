"""The editor: comments and order stay, server fields are folded, and the server checks the text while it is typed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import Browser
from tests.dashboard.editing import create_ships, editor, line, marks, replace_in_line, ship
from tests.dashboard.samples import HOSTILE, config_map, deployment
from tests.dashboard.server import DashboardServer
from tests.dashboard.webhook import configuration, webhook

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
POLICIES = "/apis/admissionregistration.k8s.io/v1"
WEBHOOKS = f"{POLICIES}/validatingwebhookconfigurations"
BIG = """(length) => {
  const data = new DataTransfer();
  data.setData("text/plain", "x".repeat(length));
  const options = { clipboardData: data, bubbles: true, cancelable: true };
  document.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", options));
}"""


def judge(request: dict[str, Any]) -> dict[str, Any]:
    """Refuse ships with a port that begins with `forbidden`."""
    port = str(request["object"]["spec"].get("port", ""))
    if port.startswith("forbidden"):
        return {"allowed": False, "status": {"message": f"spec.port: no landing at {port}"}}
    return {"allowed": True, "warnings": [f"spec.port is unusual: {port}"] if port == "odd" else []}


def policy() -> dict[str, Any]:
    """Return a ValidatingAdmissionPolicy that refuses white ships. Its refusal names the field in its message only."""
    matched = {"apiGroups": ["harbour.example.com"], "apiVersions": ["v1"], "resources": ["ships"]}
    rule = {"expression": "object.spec.?colour.orValue('') != 'white'", "message": "spec.colour: white is reserved"}
    rules = [{**matched, "operations": ["CREATE", "UPDATE"]}]
    spec = {"matchConstraints": {"resourceRules": rules}, "validations": [rule]}
    return {"metadata": {"name": "colours"}, "spec": spec}


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder: Path = tmp_path_factory.mktemp("webhook")
    create_ships(server, ship("one", port="Hull", masts=3, crew=[{"name": "Ada", "role": "cook"}]))
    server.create("/apis/apps/v1/namespaces/default/deployments", deployment("web"))
    with webhook(folder, judge) as client:
        hook = configuration("Validating", "ports.example.com", client, ["ships"], "harbour.example.com")
        server.create(WEBHOOKS, hook)
        server.create(f"{POLICIES}/validatingadmissionpolicies", policy())
        binding = {"spec": {"policyName": "colours", "validationActions": ["Deny"]}, "metadata": {"name": "colours"}}
        server.create(f"{POLICIES}/validatingadmissionpolicybindings", binding)
        yield


def test_the_object_page_leads_to_the_editor(chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        page.get_by_role("button", name="Edit").click()
        expect(editor(page)).to_contain_text("kind: Deployment")
        page.get_by_role("link", name="Deployment", exact=True).click()
        expect(page.get_by_role("tab", name="YAML")).to_be_visible()
        page.get_by_role("tab", name="Overview").focus()
        page.keyboard.press("e")
        expect(editor(page)).to_contain_text("kind: Deployment")


def test_what_the_server_writes_is_folded(chromium: Browser) -> None:
    with chromium.page("edit/apps/v1/deployments/default/web") as page:
        expect(line(page, "managedFields:")).to_be_visible()
        expect(editor(page)).not_to_contain_text("fieldsV1")
        line(page, "managedFields:").locator(".cm-foldPlaceholder").click()
        expect(editor(page)).to_contain_text("fieldsV1")


def test_a_text_is_found_with_the_keyboard(chromium: Browser) -> None:
    with chromium.page("edit/harbour.example.com/v1/ships/default/one") as page:
        line(page, "kind: Ship").click()
        page.keyboard.press("Control+f")
        page.get_by_role("textbox", name="Find").press_sequentially("cook")
        expect(page.locator(".cm-searchMatch")).to_have_text("cook")
        page.keyboard.press("Escape")
        expect(page.get_by_role("textbox", name="Find")).to_have_count(0)


def test_an_unknown_field_a_wrong_type_a_rule_and_a_webhook_have_marks_on_their_lines(chromium: Browser) -> None:
    with chromium.page("edit/harbour.example.com/v1/ships/default/one") as page:
        replace_in_line(page, "port: Hull", "port: forbidden-bay\n  sails: 3")
        replace_in_line(page, "size: 12", "size: twelve")
        replace_in_line(page, "masts: 3", "masts: 12")
        expect(page.get_by_text("4 errors")).to_be_visible()
        for name, message in {
            "sails": 'unknown field "spec.sails"',
            "size": "must be of type integer",
            "masts": "a ship has less than nine masts",
            "port": "no landing at forbidden-bay",
        }.items():
            assert [each for each in marks(page) if message in each] != [], message
            expect(line(page, f"{name}:").locator(".cm-lintRange-error")).to_be_visible()


def test_a_policy_has_a_mark_on_its_line_and_hides_no_later_refusal(chromium: Browser) -> None:
    with chromium.page("edit/harbour.example.com/v1/ships/default/one") as page:
        replace_in_line(page, "port: Hull", "port: forbidden-bay\n  colour: white")
        expect(page.get_by_text("2 errors")).to_be_visible()
        for name, message in {
            "colour": "spec.colour: white is reserved",
            "port": "no landing at forbidden-bay",
        }.items():
            assert [each for each in marks(page) if message in each] != [], message
            expect(line(page, f"{name}:").locator(".cm-lintRange-error")).to_be_visible()


def test_a_warning_of_a_webhook_is_a_mark(chromium: Browser) -> None:
    with chromium.page("edit/harbour.example.com/v1/ships/default/one") as page:
        replace_in_line(page, "port: Hull", "port: odd")
        expect(page.get_by_text("One warning")).to_be_visible()
        assert "spec.port is unusual: odd" in marks(page)[0]
        expect(line(page, "port:").locator(".cm-lintRange-warning")).to_be_visible()


def test_a_wrong_type_in_a_built_in_kind_is_marked_inside_its_list(chromium: Browser) -> None:
    with chromium.page("edit/apps/v1/deployments/default/web") as page:
        replace_in_line(page, "image: registry", "image: 7")
        expect(page.get_by_text("One error")).to_be_visible()
        expect(line(page, "image: 7").locator(".cm-lintRange-error")).to_be_visible()


def test_a_fault_of_the_text_is_marked(chromium: Browser) -> None:
    with chromium.page("edit/harbour.example.com/v1/ships/default/one") as page:
        replace_in_line(page, "port: Hull", "port: [Hull\n  port: 2")
        expect(page.get_by_text("errors").or_(page.get_by_text("One error"))).to_be_visible()


def test_a_choice_of_a_problem_moves_the_cursor_to_it(chromium: Browser) -> None:
    with chromium.page("edit/harbour.example.com/v1/ships/default/one") as page:
        replace_in_line(page, "masts: 3", "masts: 12")
        page.get_by_role("button", name="Error Line").click()
        expect(page.locator(".cm-activeLine")).to_have_text("  masts: 12")


def test_hostile_messages_of_a_webhook_are_texts(chromium: Browser) -> None:
    with chromium.page("edit/harbour.example.com/v1/ships/default/one") as page:
        replace_in_line(page, "port: Hull", "port: '" + "forbidden" + HOSTILE.replace("'", "") + "'")
        expect(page.get_by_role("button", name="<img src=x").first).to_be_visible()
        line(page, "port:").locator(".cm-lintRange-error").first.hover()
        expect(page.locator(".cm-tooltip-lint")).to_contain_text("<img src=x")
        assert page.locator("main img[src], main script").count() == 0
        assert page.title() != "1"


def test_a_long_message_with_control_characters_is_cut(server: DashboardServer, chromium: Browser) -> None:
    path = f"{CONFIG_MAPS}/plain"
    server.create(CONFIG_MAPS, config_map("plain"))
    with chromium.page("edit/core/v1/configmaps/default/plain") as page:
        expect(line(page, "key: value")).to_be_visible()
        message = "\x1b]0;title\x07" + "x" * 65_536
        server.shell.refuse(path, 403, {"kind": "Status", "code": 403, "message": message})
        replace_in_line(page, "key: value", "key: other")
        expect(page.get_by_text("One error")).to_be_visible()
        shown = page.get_by_role("region", name="Problems of the text").inner_text()
        assert len(shown) < 5_000
        assert "\x1b" not in shown


def test_keys_of_the_prototype_are_data(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("prototype"))
    with chromium.page("edit/core/v1/configmaps/default/prototype") as page:
        replace_in_line(page, "key: value", 'key: value\n  __proto__: polluted\n  constructor: "1"')
        expect(page.get_by_text("The server accepts this").or_(page.get_by_text("error"))).to_be_visible()
        assert page.evaluate("({}).polluted === undefined && ({}).constructor === Object")


def test_a_bomb_of_aliases_is_refused(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("bomb"))
    rows = ["b0: &b0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"b{i}: &b{i} [{', '.join([f'*b{i - 1}'] * 9)}]" for i in range(1, 10)]
    with chromium.page("edit/core/v1/configmaps/default/bomb") as page:
        replace_in_line(page, "key: value", "key: value\n" + "\n".join(rows))
        expect(page.get_by_role("button", name="With its aliases the document has more values")).to_be_visible()


def test_a_paste_of_50_megabytes_is_refused_and_the_page_stays_alive(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create(CONFIG_MAPS, config_map("pasted"))
    with chromium.page("edit/core/v1/configmaps/default/pasted") as page:
        expect(line(page, "key: value")).to_be_visible()
        page.evaluate(BIG, 50_000_000)
        expect(page.get_by_role("alert")).to_contain_text("more than 3,000,000 characters")
        replace_in_line(page, "key: value", "key: other")
        expect(page.get_by_text("The server accepts this")).to_be_visible()
