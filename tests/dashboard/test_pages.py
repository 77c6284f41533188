"""Each route in both themes and at three widths: accessible, without a scroll to the side, every text in the catalogue.

Pictures of all of them are in `build/dashboard-screenshots`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Page, expect
from scripts.web.places import ROOT

from tests.accessibility import violations, violations_in_theme
from tests.dashboard.browser import Browser
from tests.dashboard.samples import HOSTILE, LONG, config_map, crd, deployment
from tests.dashboard.server import DashboardServer, picture_folder
from tests.dashboard.simulated_logs import SimulatedLogs, pod

LOOPS = "chain,gc"
NODES = 2
BOATS: Final = "/apis/harbour.example.com/v1/namespaces/default/boats"
TALKER: Final = "object/core/v1/pods/default/talker"
WIDTHS: Final = {360: 640, 820: 1180, 1440: 900}
THEMES: Final[Sequence[Literal["light", "dark"]]] = ("light", "dark")
ROUTES: Final[Mapping[str, tuple[str, str]]] = {
    "home": ("", "text:attention"),
    "list": ("list/core/v1/pods", "row:web"),
    "list-filtered": ("list/apps/v1/deployments?q=app=web age>1x&wide=1", "row:web"),
    "list-long": ("list/core/v1/configmaps", "row:a-name"),
    "list-empty": ("list/batch/v1/cronjobs", "heading:No CronJobs"),
    "list-crd": ("list/harbour.example.com/v1/boats?problems=1", "row:broken"),
    "object": ("object/apps/v1/deployments/default/web", "heading:Conditions"),
    "object-broken": ("object/harbour.example.com/v1/boats/default/broken", "heading:One problem"),
    "object-yaml": ("object/apps/v1/deployments/default/web?tab=yaml", "region:YAML"),
    "object-events": ("object/apps/v1/deployments/default/web?tab=events", "text:ScalingReplicaSet"),
    "object-history": ("object/apps/v1/deployments/default/web?tab=history", "listbox:Revisions"),
    "object-history-split": ("object/core/v1/configmaps/default/hostile?tab=history&view=split", "listbox:Revisions"),
    "object-blame": ("object/apps/v1/deployments/default/web?tab=yaml&blame=1", "region:Lines with their owners"),
    "object-incident": ("object/harbour.example.com/v1/boats/default/broken?tab=incident", "heading:Time line"),
    "object-past": ("object/apps/v1/deployments/default/web?at=2099-01-01T00:00:00Z", "button:Back to now"),
    "home-past": ("?at=2099-01-01T00:00:00Z", "text:The kinds, and what you may read"),
    "edit-past": ("edit/apps/v1/deployments/default/web?at=2099-01-01T00:00:00Z", "heading:Read-only"),
    "list-past": ("list/core/v1/pods?at=2099-01-01T00:00:00Z", "row:web"),
    "deleted": ("deleted/core/v1/configmaps", "row:gone"),
    "deleted-none": ("deleted/batch/v1/cronjobs", "heading:No deleted CronJobs"),
    "object-secret": ("object/core/v1/secrets/default/password", "button:Show key"),
    "object-gone": ("object/core/v1/pods/default/none", "heading:Pod none does not exist"),
    "edit": ("edit/apps/v1/deployments/default/web", "textbox:web as YAML"),
    "edit-hostile": ("edit/core/v1/configmaps/default/hostile", "textbox:hostile as YAML"),
    "compare": ("compare/apps/v1/deployments/default/web?with=default/api", "region:Lines that differ"),
    "compare-split": ("compare/core/v1/configmaps/default/hostile?with=short&view=split", "region:Lines that differ"),
    "compare-text": ("compare/core/v1/configmaps/default/hostile?from=text", "textbox:Manifest"),
    "compare-row": ("list/core/v1/configmaps?compare=default/hostile", "text:Choose the row"),
    "create": ("create/harbour.example.com/v1/boats?ns=default", "textbox:New objects as YAML"),
    "create-yaml": ("create", "textbox:New objects as YAML"),
    "edit-gone": ("edit/core/v1/pods/default/none", "heading:Pod none does not exist"),
    "kind": ("kind/harbour.example.com/v1/boats", "heading:Columns of lists"),
    "kind-field": ("kind/core/v1/pods?field=spec.containers", "heading:Skeleton of an object"),
    "server-charts": ("server/charts", "heading:Requests by verb"),
    "server-requests": ("server/requests", "row:workload-low"),
    "server-state": ("server/state", "heading:Servers and holders"),
    "server-who-can": ("server/who-can?verb=get&resource=pods&in=default", "row:system:serviceaccount"),
    "sessions": ("server/sessions", "row:system:admin"),
    "controllers": ("server/controllers?idle=1", "row:deployment-controller"),
    "controllers-one": ("server/controllers?controller=deployment-controller", "row:default/web"),
    "object-relations": ("object/apps/v1/deployments/default/web?tab=relations", "treeitem:"),
    "object-relations-graph": (f"{TALKER}?tab=relations&view=graph", "button:Pod talker, this object"),
    "object-relations-table": (f"{TALKER}?tab=relations&view=table", "cell:"),
    "object-logs": (f"{TALKER}?tab=logs", "text:a line of the log"),
    "object-terminal": (f"{TALKER}?tab=terminal", "button:Open a terminal"),
    "object-reconciles": ("object/apps/v1/deployments/default/web?tab=reconciles", "text:Triggers"),
    "missing": ("nowhere", "heading:Nothing is at this address"),
}
"""Address and what it shows, by name. A name begins with that of a route of the page."""


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    """Create objects with usual, long, hostile and broken fields."""
    server.create("/apis/apps/v1/namespaces/default/deployments", deployment("web"), deployment("api", replicas=3))
    hostile = config_map("hostile", annotations={"note": HOSTILE, "long": "x" * 400})
    server.create("/api/v1/namespaces/default/configmaps", config_map(LONG), config_map("short"), hostile)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}, "data": {"key": "aHVudGVyMg=="}}
    server.create("/api/v1/namespaces/default/secrets", secret)
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd())
    for name in ("gone", f"gone-{LONG}"[:200]):
        server.create("/api/v1/namespaces/default/configmaps", config_map(name))
        server.delete(f"/api/v1/namespaces/default/configmaps/{name}")
    server.create("/api/v1/namespaces/default/pods", pod("talker", "main", "other"))
    create_boats(server)


SESSIONS: Final = [
    {
        "id": f"id-{name[:8]}",
        "user": name,
        "login": login,
        "began": "2026-01-02T03:04:05Z",
        "lastUsed": "2026-01-02T03:04:05Z",
        "expires": "2030-01-01T00:00:00Z",
        "idleExpires": "2030-01-01T00:00:00Z",
        "address": "203.0.113.9",
        "userAgent": agent,
        "current": name == "system:admin",
    }
    for name, login, agent in (
        ("system:admin", "link", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0"),
        (HOSTILE[:200], "oidc", HOSTILE[:200]),
        (f"system:serviceaccount:{LONG[:60]}", "token", "curl/8"),
    )
]
"""Sessions of the server, which stand in for real ones."""


@pytest.fixture(autouse=True)
def sessions(server: DashboardServer) -> None:
    """List sessions with usual, long and hostile texts."""
    server.shell.replaced["/dashboard/sessions"] = {"items": SESSIONS}


@pytest.fixture(autouse=True)
def logs(server: DashboardServer) -> None:
    """Serve the log of a Pod with usual, long and hostile lines."""
    SimulatedLogs(server).write("talker", "a line of the log", HOSTILE, "x" * 400, '{"level":"warn","msg":"slow"}')


def create_boats(server: DashboardServer) -> None:
    """Create custom resources: one is ready, the other is not."""
    version = {"apiVersion": "harbour.example.com/v1", "kind": "Boat"}
    spec = {"size": 12, "captain": HOSTILE, "crewRef": {"kind": "ConfigMap", "name": "absent"}}
    for name, ready in (("good", "True"), ("broken", "False")):
        for _ in range(100):
            if server.http.post(BOATS, json={**version, "metadata": {"name": name}, "spec": spec}).status_code == 201:
                break
        since = "2026-01-02T03:04:05Z"
        condition = {
            "type": "Ready",
            "status": ready,
            "reason": "Leak",
            "message": HOSTILE,
            "lastTransitionTime": since,
        }
        server.patch(f"{BOATS}/{name}/status", {"status": {"conditions": [condition]}})


def expect_shown(page: Page, shown: str) -> None:
    """Wait for an element: its role and the beginning of its name."""
    role, _, name = shown.partition(":")
    found: Any = page.get_by_text(name) if role == "text" else page.get_by_role(role, name=name)  # type: ignore[arg-type]  # from the table
    expect(found.first).to_be_visible()


def check_at_all_widths(page: Page, name: str, part: str = "html") -> None:
    """Check a page, or a part, at each width in both themes, and keep pictures."""
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"scrolls to the side at {width}"
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=picture_folder() / f"{name}-{width}-{theme}.png")
            assert violations_in_theme(page, part) == [], (width, theme)


@pytest.mark.parametrize("name", ROUTES)
def test_a_page_is_accessible_and_fits_each_window_in_both_themes(chromium: Browser, name: str) -> None:
    address, shown = ROUTES[name]
    with chromium.page(address) as page:
        expect_shown(page, shown)
        expect(page.get_by_role("heading", level=1).first).to_be_visible()  # the frame may be shown before its object
        check_at_all_widths(page, name)


def test_the_login_is_accessible_and_fits_each_window_in_both_themes(
    server: DashboardServer, chromium: Browser
) -> None:
    server.shell.user = None
    with chromium.page("login") as page:
        expect_shown(page, "heading:Log in to the cluster")
        check_at_all_widths(page, "login")


@pytest.mark.parametrize("name", ["home", "list", "object-broken", "sessions"])
def test_a_page_is_accessible_in_forced_colours(chromium: Browser, name: str) -> None:
    address, shown = ROUTES[name]
    for theme in THEMES:
        with chromium.page(address, theme=theme, forced_colors="active") as page:
            expect_shown(page, shown)
            page.screenshot(path=picture_folder() / f"{name}-forced-{theme}.png")
            assert violations(page) == [], theme


@pytest.mark.parametrize("name", ["list", "object"])
def test_a_page_in_high_contrast_is_accessible(chromium: Browser, name: str) -> None:
    address, shown = ROUTES[name]
    with chromium.page(address, contrast="more") as page:
        expect_shown(page, shown)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, contrast="more")
            page.screenshot(path=picture_folder() / f"{name}-contrast-{theme}.png")
            assert violations(page) == [], theme
            assert page.evaluate(PAIRS)["ink"] == ("rgb(0, 0, 0)" if theme == "light" else "rgb(255, 255, 255)")


PAIRS: Final = "({ ink: getComputedStyle(document.body).color })"


@pytest.mark.parametrize("name", ["home", "list", "object", "sessions"])
def test_a_page_fits_a_window_at_twice_the_size(chromium: Browser, name: str) -> None:
    address, shown = ROUTES[name]
    with chromium.page(address, width=640, height=400, device_scale_factor=2) as page:
        expect_shown(page, shown)
        page.screenshot(path=picture_folder() / f"{name}-zoom.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= 640
        assert page.evaluate(UNREACHABLE) == []


UNREACHABLE: Final = """[...document.querySelectorAll("main button, main a[href], main input")].filter((element) => {
  element.scrollIntoView({ block: "center", inline: "center" });
  const { left, right, top, bottom, width } = element.getBoundingClientRect();
  const outside = right < 0 || left > innerWidth || bottom < 0 || top > innerHeight;
  return width > 0 && getComputedStyle(element).visibility === "visible" && outside;
}).map((element) => element.outerHTML.slice(0, 200))"""


SOURCES: Final = ROOT / "web" / "src"


def declared(path: str, begin: str, pattern: str = r'"([^"]+)"') -> set[str]:
    """Return the names in a list or an object of a source of the page."""
    found = (SOURCES / path).read_text().partition(begin)[2]
    return set(re.findall(pattern, found[: re.search(r"^\]|\];|\};", found, re.MULTILINE).start()]))  # type: ignore[union-attr]  # a list ends


def parameters(name: str) -> set[str]:
    """Return the values of a query parameter in the addresses of the list of pages."""
    return {value for address, _ in ROUTES.values() for value in re.findall(rf"[?&]{name}=([\w-]+)", address)}


def test_the_list_of_pages_has_every_route() -> None:
    assert {name.partition("-")[0] for name in [*ROUTES, "login"]} == declared("routes/routes.js", "ROUTE_NAMES = [")


def test_the_list_of_pages_has_every_page_of_the_server() -> None:
    visited = {address.partition("?")[0] for address, _ in ROUTES.values()}
    assert {f"server/{page}" for page in declared("routes/routes.js", "SERVER_PAGES = [")} <= visited


def test_the_list_of_pages_has_every_tab_of_an_object() -> None:
    named = declared("details/tabs.js", "const TABS = [", r'\{ name: "([^"]+)"')
    assert parameters("tab") == named
    assert declared("details/tabs.js", "const TABS = [", r"\{ name: (\w+),") == {"FIRST_TAB"}


def test_the_list_of_pages_has_every_view_of_relations() -> None:
    views = declared("relations/relations_view.js", "const VIEWS = {", r"(\w+): \w+View")
    assert {"tree"} | (parameters("view") & views) == views
    assert {"tree", "graph"} <= views


OVERLAYS: Final[Mapping[str, tuple[str, str, str]]] = {
    "palette": ("list/core/v1/pods", "Control+k", "dialog:Go to"),
    "keys": ("list/core/v1/pods", "?", "dialog:Keys"),
}


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_dialog_is_accessible_and_returns_the_focus(chromium: Browser, name: str) -> None:
    address, key, shown = OVERLAYS[name]
    with chromium.page(address) as page:
        expect_shown(page, "row:web")
        before = page.evaluate("document.activeElement.className")
        page.keyboard.press(key)
        expect_shown(page, shown)
        check_at_all_widths(page, name)
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)  # a closed one may still be there for a moment
        assert page.evaluate("document.activeElement.className") == before


@pytest.mark.parametrize("button", ["User: system:admin", "Namespaces: All namespaces", "Forms of a filter"])
def test_a_menu_is_accessible_and_closes_with_escape(chromium: Browser, button: str) -> None:
    with chromium.page("list/core/v1/pods") as page:
        expect_shown(page, "row:web")
        page.get_by_role("button", name=button).click()
        check_at_all_widths(page, f"menu-{button.partition(':')[0].replace(' ', '-').lower()}", ".popover")
        page.keyboard.press("Escape")
        expect(page.locator(".popover")).to_have_count(0)


def test_the_menu_of_a_phone_is_accessible(chromium: Browser) -> None:
    with chromium.page("list/core/v1/pods", width=360, height=640) as page:
        page.get_by_role("button", name="Kinds").click()
        expect(page.get_by_role("link", name="Deployments")).to_be_visible()
        page.screenshot(path=picture_folder() / "kinds-360-light.png")
        assert violations(page) == []


UNTRANSLATED: Final = r"""() => {
  const outside = [];
  const isData = (element) => element.closest('[translate="no"]') !== null;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    if (/\p{L}/u.test(text) && !text.includes("⟦") && !isData(node.parentElement)) outside.push(text);
  }
  for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
    for (const name of ["aria-label", "title", "placeholder"]) {
      const text = element.getAttribute(name) ?? "";
      const data = isData(element) || element.matches(".sort") || element.querySelector('[translate="no"]');
      if (/\p{L}/u.test(text) && !text.includes("⟦") && !data) outside.push(`${name}: ${text}`);
    }
  }
  return outside;
}"""


@pytest.mark.parametrize("name", ROUTES)
def test_every_text_of_a_page_is_in_the_catalogue(chromium: Browser, name: str) -> None:
    with chromium.context() as context:
        context.add_init_script("localStorage.setItem('sampan-language', 'qps')")
        page = context.new_page()
        page.goto(f"{chromium.address}/dashboard/{ROUTES[name][0]}")
        expect(page.get_by_role("heading").first).to_be_visible()
        page.wait_for_load_state("load")
        assert page.evaluate(UNTRANSLATED) == []
