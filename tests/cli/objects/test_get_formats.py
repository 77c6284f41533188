"""The formats of `sampan get -o`, and `--sort-by`, beside those of the real kubectl on the same server."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.objects.conftest import Run
from tests.cli.server import Server
from tests.user_environment import user_environment

KUBECTL = shutil.which("kubectl")
MANIFESTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: item10, labels: {app: web}, annotations: {example.com/size: 2Gi}}
data: {a: "1", b: "two words"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: item9, annotations: {example.com/size: 500Mi}}
data: {a: "2"}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: img, args: [a, b], resources: {limits: {cpu: 500m}}}]}
"""
COLUMNS = "NAME          PORTS          NONE\n.metadata.name spec.ports[*].port {.no.such}\n"
SAME = [
    ("cm", "-o", "name"),
    ("cm", "item9", "-o", "jsonpath={.metadata.name}"),
    ("cm", "-o", "jsonpath={.items[*].metadata.name}"),
    ("cm", "-o", 'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.data.a}{"\\n"}{end}'),
    ("cm", "-o", "jsonpath={.items[?(@.data.a=='2')].metadata.name}"),
    ("cm", "-o", "jsonpath={.items[*]['metadata.name','data.a']}"),
    ("cm", "-o", "jsonpath={.kind} of {.items[0].kind}: {.items[0].data}"),
    ("cm", "item9", "-o", "jsonpath=plain"),
    ("cm", "item9", "-o", "jsonpath=.metadata.name"),
    ("cm", "item9", "-o", "jsonpath={.no.such}"),
    ("cm", "item9", "-o", "jsonpath={.}"),
    ("cm", "item9", "-o", "jsonpath={@}"),
    ("cm", "item9", "-o", "jsonpath={.metadata.managedFields[*].operation}"),
    ("cm", "item10", "-o", "jsonpath={.data}"),
    ("cm", "item10", "-o", r"jsonpath={.metadata.annotations.example\.com/size}"),
    ("svc", "web", "-o", "jsonpath={.spec.ports}"),
    ("svc", "web", "-o", "jsonpath={.spec.ports[-1].port} {.spec.ports[0:1].name}"),
    ("svc", "web", "-o", "jsonpath={..port}"),
    ("svc", "web", "-o", 'jsonpath={range .spec.ports[?(@.port>100)]}{.name}{end}{"!"}'),
    ("svc", "web", "-o", "jsonpath-as-json={.spec.ports[*].port}"),
    ("deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[0].args}"),
    ("deploy", "web", "-o", "jsonpath={.spec.replicas}{.spec.paused}"),
    ("cm", "-o", "custom-columns=NAME:.metadata.name,A:.data.a,B:.data.b"),
    ("cm", "-o", "custom-columns=NAME:metadata.name,ALL:{.data}", "--no-headers"),
    ("svc", "web", "-o", "custom-columns=PORTS:.spec.ports[*].port,WHOLE:.spec.ports,SEL:.spec.selector"),
    ("deploy", "web", "-o", "custom-columns=R:.spec.replicas,ARGS:.spec.template.spec.containers[*].args,X:.x"),
    ("svc", "web", "-o", "custom-columns-file=columns.txt"),
    ("svc", "web", "-o", "jsonpath-file=template.txt"),
    ("cm", "--sort-by=.metadata.name", "-o", "name"),
    ("cm", "--sort-by={.data.a}", "-o", "name"),
    ("cm", r"--sort-by=.metadata.annotations.example\.com/size", "-o", "name"),
    ("cm", "--sort-by=.data.b", "-o", "custom-columns=NAME:.metadata.name"),
    ("cm", "--sort-by=.metadata.name", "-o", "jsonpath={.items[*].metadata.name}"),
    ("cm,svc", "-o", "custom-columns=KIND:.kind,NAME:.metadata.name"),
    ("svc", "web", "-o", "wide"),
    ("deploy", "-o", "wide", "--no-headers"),
]


@pytest.fixture
def objects(run: Run, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A namespace with objects, and the files of templates in the working directory."""
    run("apply", "-n", namespace, "-f", "-", stdin=MANIFESTS)
    (tmp_path / "columns.txt").write_text(COLUMNS)
    (tmp_path / "template.txt").write_text('{range .spec.ports[*]}{.name}={.port}{"\\n"}{end}')
    monkeypatch.chdir(tmp_path)
    return namespace


@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed")
def test_the_output_is_that_of_kubectl(run: Run, server: Server, objects: str) -> None:
    assert KUBECTL is not None
    environment = user_environment(KUBECONFIG=str(server.data / "kubeconfig"))
    differences = []
    for arguments in SAME:
        line = ["get", *arguments, "-n", objects]
        theirs = subprocess.run([KUBECTL, *line], env=environment, capture_output=True, text=True, check=True)
        ours = run(*line)
        if ours.out != theirs.stdout:
            differences.append((arguments, ours.out or ours.err, theirs.stdout))
    assert differences == []


def test_rows_of_tables_are_sorted(run: Run, objects: str) -> None:
    path = r"--sort-by=.metadata.annotations.example\.com/size"
    lines = run("get", "cm", "-n", objects, path, "--no-headers").lines
    assert [line.split()[0] for line in lines if line.startswith("item")] == ["item9", "item10"]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("xml", 'unable to match a printer suitable for the output format "xml", allowed formats are: custom-columns,'),
        ("go-template={{.kind}}", "unsupported format go-template: use jsonpath=…"),
        ("jsonpath", "the format jsonpath needs a template: -o jsonpath=…"),
        ("jsonpath={.a", "error parsing jsonpath {.a, unclosed action"),
        ("jsonpath={range .items[*]}", "{range} without {end}"),
        ("jsonpath-file=absent", "absent: No such file or directory"),
        ("custom-columns=NAME", "unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>"),
    ],
)
def test_a_format_that_makes_no_sense_is_refused_with_the_reason(run: Run, form: str, message: str) -> None:
    done = run("get", "cm", "-o", form)
    assert done.code != 0
    assert message in done.err


def test_a_path_that_does_not_fit_the_object_is_an_error(run: Run, objects: str) -> None:
    done = run("get", "svc", "web", "-n", objects, "-o", "jsonpath={.spec.ports[7].port}")
    assert (done.code, done.out) == (1, "")
    assert "array index out of bounds" in done.err
