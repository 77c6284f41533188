"""Terminals in the page: commands in a process Pod of `sampan up`, with the session's cookie, sizes, loss and audit."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser, browser
from tests.dashboard.process import Running, logged_in, running_server
from tests.dashboard.server import picture_folder
from tests.dashboard.test_pages import check_at_all_widths

PODS = "/api/v1/namespaces/default/pods"
ADDRESS = "object/core/v1/pods/default/shop?tab=terminal"
SHOP: Any = {
    "metadata": {"name": "shop"},
    "spec": {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 1,
        "containers": [
            {"name": name, "image": "shell", "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", script]}
            for name, script in (("main", "echo begun; exec sleep 600"), ("other", "exec sleep 600"))
        ],
    },
}
POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: Metadata, resources: [{group: "", resources: ["pods/exec"]}]}, {level: None}]
"""


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the audit policy and its log."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "policy.yaml").write_text(POLICY)
    return folder


@pytest.fixture(scope="module")
def process(built: None, audit: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a server with a node of processes, and a Pod on it that runs."""
    options = ["--nodes", "1", "--node-runtime", "process", "--audit-policy-file", str(audit / "policy.yaml")]
    data = tmp_path_factory.mktemp("server") / "data"
    with running_server(data, *options, "--audit-log-path", str(audit / "log")) as running:
        create(running, "shop")
        yield running


def create(process: Running, name: str, **spec: Any) -> None:
    """Create a Pod, and wait until it runs. The namespace gets its service account soon after the start."""
    made = {**SHOP, "metadata": {"name": name}, "spec": {**SHOP["spec"], **spec}}
    while (reply := process.http.post(PODS, json=made)).status_code == 403:
        continue
    assert reply.status_code == 201, reply.text
    query = {"watch": "1", "timeoutSeconds": "60", "fieldSelector": f"metadata.name={name}"}
    with process.http.stream("GET", PODS, params=query, timeout=90) as watch:
        phases = (json.loads(line)["object"]["status"].get("phase") for line in watch.iter_lines())
        assert any(phase == "Running" for phase in phases)


@pytest.fixture(scope="module")
def chromium(process: Running) -> Iterator[Browser]:
    """Return a browser for the server process."""
    with browser(process.address) as started:
        yield started


@pytest.fixture(scope="module")
def session(process: Running, chromium: Browser) -> Iterator[Page]:
    """Return a page that the one-time link has logged in."""
    with logged_in(chromium, process) as opened:
        yield opened


@pytest.fixture
def page(session: Page, process: Running) -> Page:
    """Return the page of terminals, without one."""
    session.set_viewport_size({"width": 1440, "height": 900})
    session.goto(f"{process.address}/dashboard/{ADDRESS}")
    expect(session.get_by_role("heading", name="No terminal is open")).to_be_visible()
    return session


def screen(page: Page) -> Any:
    """Return the rows of the terminal."""
    return page.locator(".xterm-rows")


def open_terminal(page: Page) -> None:
    """Open a terminal, and wait for its prompt."""
    page.get_by_role("button", name="Open a terminal").click()
    expect(screen(page)).to_contain_text(re.compile(r"[$#]"))


def enter(page: Page, line: str) -> None:
    """Type a line."""
    page.keyboard.type(line)
    page.keyboard.press("Enter")


def wait_until(page: Page, expression: str) -> None:
    """Wait until an expression is true. The policy of the page forbids to evaluate texts in it later."""
    for _ in range(300):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{expression} has not become true: {screen(page).inner_text()}")


def test_a_command_runs_and_its_end_is_reported(page: Page) -> None:
    open_terminal(page)
    enter(page, "echo one-$((1+1))-three")
    expect(screen(page)).to_contain_text("one-2-three")
    enter(page, "exit 3")
    over = page.get_by_role("alertdialog", name="The command has ended")
    expect(over).to_contain_text("Its exit code is 3.")
    over.get_by_role("button", name="Run it again").click()
    expect(over).to_have_count(0)
    enter(page, "echo once-$((1+1))-more")
    expect(screen(page)).to_contain_text("once-2-more")


def test_the_size_of_the_terminal_follows_the_window(page: Page) -> None:
    open_terminal(page)
    rows = "document.querySelectorAll('.xterm-rows > div').length"
    for height, few in ((900, "> 28"), (600, "< 28")):
        page.set_viewport_size({"width": 1440, "height": height})
        wait_until(page, f"{rows} {few}")
        enter(page, "clear; echo at=$(stty size)=")
        expect(screen(page)).to_contain_text(f"at={page.evaluate(rows)} ")


@pytest.mark.skipif(shutil.which("vi") is None, reason="this machine has no vi")
def test_vi_edits_a_file_and_fills_the_terminal_after_a_change_of_its_size(page: Page) -> None:
    open_terminal(page)
    enter(page, "cd $(mktemp -d); vi -u NONE note.txt || vi note.txt")
    rows = "document.querySelectorAll('.xterm-rows > div').length"
    empty = (
        "[...document.querySelectorAll('.xterm-rows > div')].filter((row) => row.textContent.startsWith('~')).length"
    )
    wait_until(page, f"{empty} >= {rows} - 3")
    page.keyboard.type("ifirst line")
    page.keyboard.press("Enter")
    page.keyboard.type("second line")
    page.keyboard.press("Escape")
    expect(screen(page)).to_contain_text("second line")
    for height in (600, 900):
        page.set_viewport_size({"width": 1440, "height": height})
        wait_until(page, f"{rows} {'< 28' if height == 600 else '> 28'} && {empty} >= {rows} - 4")
    page.keyboard.type("kdd")
    expect(screen(page)).not_to_contain_text("first line")
    enter(page, ":wq")
    enter(page, "clear; echo has=$(cat note.txt)=; rm note.txt")
    expect(screen(page)).to_contain_text("has=second line=")


def test_sequences_set_no_title_no_clipboard_and_no_link(page: Page) -> None:
    title = page.title()
    open_terminal(page)
    page.evaluate("navigator.clipboard.writeText('mine').catch(() => {})")
    sequences = r"\033]0;evil\007\033]2;evil\007\033]52;c;ZXZpbA==\007\033]8;;https://evil.example\007link\033]8;;\007"
    enter(page, f"printf '{sequences}'; printf '\\033[38;2;250;10;10mfin%s\\033[0m\\n' ished")
    expect(screen(page)).to_contain_text("finished")
    assert page.title() == title
    screen(page).get_by_text("link", exact=False).last.hover(force=True)
    assert page.locator(".xterm-underline-5, .xterm a").count() == 0
    assert len(page.context.pages) == 1


def test_several_terminals_stay_while_one_looks_at_something_else(page: Page) -> None:
    open_terminal(page)
    enter(page, "echo first-one")
    expect(screen(page)).to_contain_text("first-one")
    page.get_by_role("combobox", name="Container").select_option("other")
    page.get_by_role("button", name="Open a terminal").click()
    expect(page.get_by_role("tab", name="2 other: sh")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Overview").click()
    page.get_by_role("tab", name="Terminal").click()
    page.get_by_role("tab", name="1 main: sh").click()
    expect(screen(page)).to_contain_text("first-one")
    page.get_by_role("button", name="Close this terminal").click()
    expect(page.get_by_role("tab", name="2 other: sh")).to_have_count(0)
    expect(page.get_by_role("tab", name="1 other: sh")).to_be_visible()


def test_another_command_runs_and_is_in_the_address(page: Page) -> None:
    page.get_by_role("combobox", name="Command").select_option("Other command")
    page.get_by_role("textbox", name="Command to run").fill("sh -c 'echo ma\"d\"e; cat'")
    page.get_by_role("textbox", name="Command to run").press("Enter")
    expect(screen(page)).to_contain_text("made")
    assert "command=sh" in page.url


def test_a_command_that_cannot_start_shows_why(page: Page) -> None:
    page.goto(f"{page.url}&command=no-such-program")
    page.get_by_role("button", name="Open a terminal").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("Its exit code is 127.")


def test_fast_output_leaves_the_page_alive(page: Page) -> None:
    open_terminal(page)
    enter(page, "head -c 20000000 /dev/zero | tr '\\0' 'x'; echo; echo all-$((1+1))-done")
    expect(screen(page)).to_contain_text("all-2-done", timeout=60_000)


def test_the_keyboard_leaves_the_terminal_and_a_reader_gets_the_output(page: Page) -> None:
    page.get_by_role("button", name="Screen reader").click()
    open_terminal(page)
    enter(page, "echo readable")
    expect(page.locator(".xterm-accessibility")).to_contain_text("readable")
    page.keyboard.press("Shift+Escape")
    expect(page.get_by_role("tab", name="1 main: sh")).to_be_focused()


def test_a_lost_connection_offers_to_reconnect(page: Page, process: Running) -> None:
    create(process, "short")
    page.goto(page.url.replace("/shop", "/short"))
    open_terminal(page)
    process.http.delete(f"{PODS}/short", params={"gracePeriodSeconds": "0"}).raise_for_status()
    expect(page.get_by_role("alertdialog")).to_be_visible()


def test_terminals_are_in_the_audit_log(page: Page, audit: Path) -> None:
    open_terminal(page)
    records = [json.loads(line) for line in (audit / "log").read_text().splitlines()]
    opened = [each for each in records if each["objectRef"]["subresource"] == "exec"]
    assert opened[-1]["objectRef"]["name"] == "shop"
    assert opened[-1]["user"]["username"]
    assert "command=sh" in opened[-1]["requestURI"]


def test_terminals_are_accessible_and_fit_each_window(page: Page) -> None:
    open_terminal(page)
    enter(page, "ls -la --color=always /; exit")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    check_at_all_widths(page, "object-terminal")
    page.screenshot(path=picture_folder() / "terminal.png")


def test_a_user_without_the_right_sees_the_missing_verb(process: Running, chromium: Browser) -> None:
    account = {"metadata": {"name": "viewer"}}
    process.http.post("/api/v1/namespaces/default/serviceaccounts", json=account).raise_for_status()
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    subject = {"kind": "ServiceAccount", "name": "viewer", "namespace": "default"}
    binding = {"metadata": {"name": "viewer"}, "roleRef": role, "subjects": [subject]}
    process.http.post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", json=binding)
    made = process.http.post(
        "/api/v1/namespaces/default/serviceaccounts/viewer/token", json={"spec": {"expirationSeconds": 3600}}
    ).json()
    with chromium.page(ADDRESS) as page:
        page.get_by_label("Token", exact=True).fill(made["status"]["token"])
        page.get_by_role("button", name="Log in", exact=True).click()
        button = page.get_by_role("button", name="Open a terminal")
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_contain_text("Needs create on pods/exec")
