"""Actions on objects: each is a dry run first, shows what it changes, and needs its right."""

import base64
import time
from collections.abc import Callable
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from playwright.sync_api import Page, expect

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.samples import deployment
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths

LOOPS = "chain,gc"
NODES = 1
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
Json = dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create(DEPLOYMENTS, deployment("web"))
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/report:1"}]}}
    spec = {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": pod}}}
    server.create(CRON_JOBS, {"metadata": {"name": "report"}, "spec": spec})


def wait_for(read: Callable[[], bool]) -> None:
    """Wait until a condition of the server is true."""
    for _ in range(200):
        if read():
            return
        time.sleep(0.05)
    raise AssertionError("the condition did not become true")


def start(page: Page, action: str) -> None:
    """Open the dialog of an action."""
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("button", name=action, exact=True).click()
    expect(page.get_by_role("dialog", name=f"{action}:")).to_be_visible()


def confirm(page: Page, action: str) -> None:
    """Press the button of the dialog, and wait until it closes."""
    page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_scale_shows_the_change_before_it_is_made(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        start(page, "Scale")
        page.get_by_role("spinbutton", name="Replicas").fill("3")
        expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("spec.replicas")
        assert server.http.get(f"{DEPLOYMENTS}/web").json()["spec"]["replicas"] == 2
        confirm(page, "Scale")
    assert server.http.get(f"{DEPLOYMENTS}/web").json()["spec"]["replicas"] == 3


def test_restart_sets_the_annotation_of_kubectl(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        start(page, "Restart")
        expect(page.get_by_role("dialog").get_by_text("restartedAt")).to_be_visible()
        confirm(page, "Restart")
    template = server.http.get(f"{DEPLOYMENTS}/web").json()["spec"]["template"]
    assert "kubectl.kubernetes.io/restartedAt" in template["metadata"]["annotations"]


def test_an_image_is_set_for_one_container(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        start(page, "Set image")
        page.get_by_label("main").fill("registry.example/web:2")
        expect(page.get_by_text("spec.template.spec.containers[0].image")).to_be_visible()
        confirm(page, "Set image")
    containers = server.http.get(f"{DEPLOYMENTS}/web").json()["spec"]["template"]["spec"]["containers"]
    assert [each["image"] for each in containers] == ["registry.example/web:2"]


@pytest.mark.parametrize(
    ("address", "path", "on", "off", "field"),
    [
        ("apps/v1/deployments/default/web", f"{DEPLOYMENTS}/web", "Pause", "Resume", "paused"),
        ("batch/v1/cronjobs/default/report", f"{CRON_JOBS}/report", "Suspend", "Continue", "suspend"),
        ("core/v1/nodes/node-1", "/api/v1/nodes/node-1", "Cordon", "Uncordon", "unschedulable"),
    ],
    ids=["pause", "suspend", "cordon"],
)
def test_a_switch_is_turned_on_and_off(
    server: DashboardServer, chromium: Browser, address: str, path: str, on: str, off: str, field: str
) -> None:
    if "nodes" in path:
        name = server.http.get("/api/v1/nodes").json()["items"][0]["metadata"]["name"]
        address, path = f"core/v1/nodes/{name}", f"/api/v1/nodes/{name}"
    with chromium.page(f"object/{address}") as page:
        for action, value in ((on, True), (off, False)):
            start(page, action)
            expect(page.get_by_text(f"spec.{field}")).to_be_visible()
            confirm(page, action)
            assert bool(server.http.get(path).json()["spec"].get(field)) is value


def test_a_cron_job_runs_now(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/batch/v1/cronjobs/default/report") as page:
        start(page, "Run now")
        expect(page.get_by_text("would be created")).to_be_visible()
        shown = page.get_by_text("would be created").inner_text()
        assert server.http.get("/apis/batch/v1/namespaces/default/jobs").json()["items"] == []
        confirm(page, "Run now")
    [job] = server.http.get("/apis/batch/v1/namespaces/default/jobs").json()["items"]
    assert shown == f"Job {job['metadata']['name']} would be created."
    assert job["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] == "manual"
    assert job["metadata"]["ownerReferences"][0]["name"] == "report"


def test_a_pod_is_evicted_unless_a_disruption_budget_forbids_it(server: DashboardServer, chromium: Browser) -> None:
    pods = "/api/v1/namespaces/default/pods"
    container = {"name": "main", "image": "registry.example/web:1"}
    for name in ("free", "guarded"):
        spec = {"containers": [container]}
        server.create(pods, {"metadata": {"name": name, "labels": {"pod": name}}, "spec": spec})
    budget = {"maxUnavailable": 0, "selector": {"matchLabels": {"pod": "guarded"}}}
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    server.create(budgets, {"metadata": {"name": "guard"}, "spec": budget})
    for name in ("free", "guarded"):
        wait_for(lambda: server.http.get(f"{pods}/{name}").json()["status"].get("phase") == "Running")  # noqa: B023
    with chromium.page("object/core/v1/pods/default/guarded") as page:
        start(page, "Evict")
        expect(page.get_by_role("alert")).to_contain_text("Cannot evict pod")
        expect(page.get_by_role("dialog").get_by_role("button", name="Evict", exact=True)).to_be_disabled()
    with chromium.page("object/core/v1/pods/default/free") as page:
        start(page, "Evict")
        expect(page.get_by_text("The server accepts this.")).to_be_visible()
        assert server.http.get(f"{pods}/free").status_code == 200
        confirm(page, "Evict")
        wait_for(lambda: server.http.get(f"{pods}/free").status_code == 404)


def test_a_signing_request_is_approved(server: DashboardServer, chromium: Browser) -> None:
    requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    server.create(requests, signing_request("approved"), signing_request("denied"))
    for name, action, condition in (("approved", "Approve", "Approved"), ("denied", "Deny", "Denied")):
        with chromium.page(f"object/certificates.k8s.io/v1/certificatesigningrequests/{name}") as page:
            start(page, action)
            expect(page.get_by_text("The server accepts this.")).to_be_visible()
            confirm(page, action)
        conditions = server.http.get(f"{requests}/{name}").json()["status"]["conditions"]
        assert [each["type"] for each in conditions] == [condition]


def signing_request(name: str) -> Json:
    """Return a request for a client certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    pem = request.public_bytes(serialization.Encoding.PEM)
    spec = {"request": base64.b64encode(pem).decode(), "signerName": "kubernetes.io/kube-apiserver-client"}
    return {"metadata": {"name": name}, "spec": {**spec, "usages": ["client auth"]}}


def test_an_action_without_the_right_names_the_verb(server: DashboardServer, chromium: Browser) -> None:
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    server.create(f"{RBAC}/clusterroles", {"metadata": {"name": "looker"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "looker"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "looker"}
    binding = {"metadata": {"name": "looker"}, "roleRef": role, "subjects": [subject]}
    server.create(f"{RBAC}/clusterrolebindings", binding)
    server.shell.user = UserInfo("looker", groups=("system:authenticated",))
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        expect(page.get_by_role("button", name="Edit")).to_be_disabled()
        page.get_by_role("button", name="Actions").click()
        for action, needs in (("Scale", "patch on deployments.apps/scale"), ("Delete", "delete on deployments.apps")):
            button = page.get_by_role("button", name=action)
            expect(button).to_be_disabled()
            expect(button).to_contain_text(f"Needs {needs}")


def test_the_menu_and_a_dialog_of_an_action_are_accessible(chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        page.get_by_role("button", name="Actions").click()
        check_at_all_widths(page, "actions-menu", ".popover")
        page.keyboard.press("Escape")
        start(page, "Set image")
        page.get_by_label("main").fill("registry.example/a-very-long-repository/" + "x" * 120)
        expect(page.get_by_text("spec.template.spec.containers[0].image")).to_be_visible()
        check_at_all_widths(page, "action-dialog", "dialog")
