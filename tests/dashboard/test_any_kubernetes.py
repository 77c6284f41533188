"""The page of `sampan dashboard`: a cluster over TLS with a client certificate, one like kube-apiserver, few rights."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from sampan.client import load_config
from tests.dashboard.browser import Browser, browser
from tests.dashboard.editing import editor, replace_in_line
from tests.dashboard.process import Running, running_server
from tests.dashboard.samples import config_map
from tests.dashboard.stock_front import StockFront, stock_front
from tests.dashboard.test_saving import review, save
from tests.dashboard.test_terminal import create, enter, open_terminal, screen
from tests.dashboard_proxy.process import LocalDashboard, local_dashboard, write_kubeconfig

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
LIST = "list/core/v1/configmaps?ns=default"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of the cluster."""
    return tmp_path_factory.mktemp("cluster") / "data"


@pytest.fixture(scope="module")
def cluster(built: None, data: Path) -> Iterator[Running]:
    """Start a server with a node of processes, and a Pod on it that runs."""
    with running_server(data, "--nodes", "1", "--node-runtime", "process") as running:
        create(running, "shop")
        yield running


@pytest.fixture(scope="module")
def front(cluster: Running, data: Path) -> Iterator[StockFront]:
    """Start a server like kube-apiserver."""
    with stock_front(load_config(data / "kubeconfig")) as started:
        yield started


@pytest.fixture(scope="module")
def announced(cluster: Running) -> None:
    """Create the Lease of an operator with a report, and an object that no control loop reconciles."""
    cluster.http.post(CONFIG_MAPS, json=config_map("unowned")).raise_for_status()
    place = {"host": "boxes-0", "namespace": "default", "pod": "boxes-0", "port": 8443, "scheme": "https", "key": "k"}
    name = "operator.sampan.dev/controllers"
    metadata = {"name": "boxes", "labels": {name: "true"}, "annotations": {name: json.dumps(place)}}
    lease = {"metadata": metadata, "spec": {"holderIdentity": "boxes-0_1"}}
    cluster.http.post("/apis/coordination.k8s.io/v1/namespaces/default/leases", json=lease).raise_for_status()


@contextmanager
def opened(chromium: Browser, dashboard: LocalDashboard, path: str = "") -> Iterator[Page]:
    """Open a page that the one-time link has logged in."""
    chromium.address = dashboard.address
    chromium.allowed.append(dashboard.address)
    with chromium.page(dashboard.link) as page:
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        if path:
            page.goto(f"{dashboard.address}/dashboard/{path}")
        yield page


@pytest.fixture(scope="module")
def chromium(cluster: Running) -> Iterator[Browser]:
    """Return the browser for all pages."""
    with browser(cluster.address) as started:
        yield started


@pytest.fixture(scope="module")
def own(cluster: Running, data: Path, chromium: Browser) -> Iterator[tuple[LocalDashboard, Page]]:
    """Return a page of the cluster, which the command reaches over TLS with a client certificate."""
    with local_dashboard(data / "kubeconfig") as dashboard, opened(chromium, dashboard) as page:
        yield dashboard, page


@pytest.fixture(scope="module")
def stock(
    front: StockFront, chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LocalDashboard, Page]]:
    """Return a page of the server like kube-apiserver."""
    file = write_kubeconfig(tmp_path_factory.mktemp("stock") / "config", front.address, {})
    with local_dashboard(file) as dashboard, opened(chromium, dashboard) as page:
        yield dashboard, page


@pytest.fixture(params=["own", "stock"])
def shown(request: pytest.FixtureRequest) -> tuple[LocalDashboard, Page]:
    """Return a page of each cluster."""
    found: tuple[LocalDashboard, Page] = request.getfixturevalue(request.param)
    return found


def show(shown: tuple[LocalDashboard, Page], path: str) -> Page:
    """Go to a path of the page."""
    dashboard, page = shown
    page.goto(f"{dashboard.address}/dashboard/{path}")
    return page


def test_the_context_is_shown_and_no_credential_is_in_the_page(own: tuple[LocalDashboard, Page], data: Path) -> None:
    page = show(own, "")
    expect(page.locator(".context")).to_have_text("sampan")
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert own[0].link.partition("#")[2] not in stored
    assert (data / "admin.token").read_text().strip() not in stored
    cookies = [(each["name"].partition("-")[0], each["httpOnly"], each["sameSite"]) for each in page.context.cookies()]
    assert cookies == [("sampan", True, "Strict")]


def test_a_list_is_live(shown: tuple[LocalDashboard, Page], cluster: Running) -> None:
    page = show(shown, LIST)
    expect(page.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible()
    cluster.http.post(CONFIG_MAPS, json=config_map("live")).raise_for_status()
    expect(page.get_by_role("row", name="live")).to_be_visible()
    cluster.http.delete(f"{CONFIG_MAPS}/live").raise_for_status()
    expect(page.get_by_role("row", name="live")).to_have_count(0)


def test_an_object_is_edited_and_saved(shown: tuple[LocalDashboard, Page], cluster: Running) -> None:
    name = "edited-" + ("stock" if "shop" in shown[0].ready_line else "own")
    cluster.http.post(CONFIG_MAPS, json=config_map(name)).raise_for_status()
    page = show(shown, f"edit/core/v1/configmaps/default/{name}")
    expect(editor(page)).to_contain_text("key: value")
    replace_in_line(page, "key: value", "key: value\n  other: after")
    review(page)
    save(page)
    assert cluster.http.get(f"{CONFIG_MAPS}/{name}").json()["data"] == {"key": "value", "other": "after"}


def test_logs_are_followed(shown: tuple[LocalDashboard, Page]) -> None:
    page = show(shown, "object/core/v1/pods/default/shop?tab=logs&container=main")
    expect(page.get_by_text("begun", exact=True)).to_be_visible()


def test_a_terminal_runs_commands(shown: tuple[LocalDashboard, Page]) -> None:
    page = show(shown, "object/core/v1/pods/default/shop?tab=terminal")
    open_terminal(page)
    enter(page, "echo one-$((1+1))-three; exit 3")
    expect(screen(page)).to_contain_text("one-2-three")
    expect(page.get_by_role("alertdialog", name="The command has ended")).to_contain_text("Its exit code is 3.")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("object/core/v1/configmaps/default/kube-root-ca.crt?tab=history", "This server does not offer the history"),
        ("object/core/v1/pods/default/shop?tab=incident", "This server does not offer the history"),
        ("deleted/core/v1/configmaps", "This server does not offer the history"),
        ("server/controllers", "It has no /debug/controllers."),
        ("object/core/v1/pods/default/shop?tab=reconciles", "It has no /debug/controllers."),
    ],
    ids=["history", "what changed", "deleted", "controllers", "reconciles"],
)
def test_what_only_sampan_has_is_explained(stock: tuple[LocalDashboard, Page], path: str, text: str) -> None:
    expect(show(stock, path).get_by_text(text)).to_be_visible()


def test_the_page_explains_that_it_reads_no_reports_of_operators(
    shown: tuple[LocalDashboard, Page], announced: None
) -> None:
    requests: list[str] = []
    page = show(shown, "server/controllers")
    page.on("request", lambda request: requests.append(request.url))
    expect(page.get_by_role("heading", name="boxes")).to_be_visible()
    expect(page.get_by_text("passes nothing to Pods. Use kubectl port-forward to Pod boxes-0")).to_be_visible()
    show(shown, "object/core/v1/configmaps/default/unowned?tab=reconciles")
    expect(page.get_by_role("tabpanel").get_by_text("passes nothing to Pods")).to_be_visible()
    assert [each for each in requests if "/proxy/" in each] == []


def test_a_cluster_that_is_away_is_reported_and_comes_back(
    stock: tuple[LocalDashboard, Page], front: StockFront, cluster: Running
) -> None:
    page = show(stock, LIST)
    expect(page.get_by_role("row", name="kube-root-ca.crt")).to_be_visible()
    front.disconnect()
    expect(page.locator(".connection")).to_be_visible()
    expect(page.get_by_role("row", name="kube-root-ca.crt")).to_be_visible()
    cluster.http.post(CONFIG_MAPS, json=config_map("meanwhile")).raise_for_status()
    front.connect()
    expect(page.get_by_role("row", name="meanwhile")).to_be_visible()
    expect(page.locator(".connection")).to_have_count(0)
    cluster.http.delete(f"{CONFIG_MAPS}/meanwhile").raise_for_status()


def test_a_page_that_begins_without_the_cluster_waits_for_it(
    stock: tuple[LocalDashboard, Page], front: StockFront
) -> None:
    front.disconnect()
    page = show(stock, LIST)
    expect(page.locator(".connection")).to_be_visible()
    front.connect()
    expect(page.get_by_role("row", name="kube-root-ca.crt")).to_be_visible()
    expect(page.locator(".connection")).to_have_count(0)


def test_a_user_with_few_rights_is_shown_the_namespace_of_the_kubeconfig(
    cluster: Running, chromium: Browser, tmp_path: Path
) -> None:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}
    binding = {"metadata": {"name": "jane"}, "roleRef": role, "subjects": [subject]}
    cluster.http.post(BINDINGS, json=binding).raise_for_status()
    cluster.http.post(CONFIG_MAPS, json=config_map("seen")).raise_for_status()
    with stock_front(load_config(jane(cluster, tmp_path))) as limited:
        file = write_kubeconfig(tmp_path / "stock", limited.address, {})
        with local_dashboard(file) as dashboard, opened(chromium, dashboard, "list/core/v1/configmaps") as page:
            expect(page.get_by_role("row", name="seen")).to_be_visible()
            expect(page.get_by_text("Some may be missing")).to_be_visible()
            page.get_by_role("button", name=re.compile("^Namespace")).click()
            expect(page.get_by_role("checkbox", name="default")).to_be_visible()


def jane(cluster: Running, folder: Path) -> Path:
    """Return a kubeconfig that acts as a user."""
    token = cluster.http.headers["Authorization"].removeprefix("Bearer ")
    file = write_kubeconfig(folder / "jane", cluster.address, {"token": token, "as": "jane"})
    file.write_text(file.read_text().replace("server:", "insecure-skip-tls-verify: true\n    server:"))
    return file
