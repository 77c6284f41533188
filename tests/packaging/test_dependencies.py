"""Default dependencies suffice for `sampan up`; clients load few packages; absent extras are named."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from sampan.cli.main import _COMMANDS
from tests.cli.server import NO_LOOPS, command
from tests.packaging.restricted import environment, output

ROOT = Path(__file__).parents[2]
OPERATOR = ROOT / "packaging" / "operator"
CLIENT_COMMANDS = ("api-resources", "apply", "delete", "describe", "get", "wait")
LOADED = """
import json, sys
from importlib import import_module
for name in {modules!r}:
    import_module(name)
own = sys.stdlib_module_names | {{"sampan", "__main__", "_distutils_hack", "sitecustomize", "typing_extensions"}}
top = {{name.partition(".")[0] for name in sys.modules}} - own
print(json.dumps(sorted(name for name in top if "cython" not in name and not name.startswith("_sysconfigdata"))))
"""
"""Prints the packages that modules load. typing_extensions is optional; others import it if it is there.

`_sysconfigdata_…` is of the standard library, whose list of names omits it: its name depends on the platform.
"""
FAILING = """
import contextlib, importlib, io, json
from sampan.cli.main import main
for module in {modules!r}.values():
    importlib.import_module(module)
printed = {{}}
for name, arguments in {arguments!r}.items():
    with contextlib.redirect_stderr(io.StringIO()) as stderr, contextlib.suppress(SystemExit):
        main(arguments)
    printed[name] = stderr.getvalue().splitlines()
print(json.dumps(printed))
"""
CLIENT = ["httptools", "isal", "msgspec", "orjson"]
NOT_FOR_OPERATORS = {
    "sampan.core.tokens.legacy": "jwt",
    "sampan.core.telemetry.otlp": "opentelemetry",
    "sampan.operator.process.spans": "opentelemetry",
    "sampan.wire.websocket": "wsproto",
}
"""Modules of shared folders that only the server or an extra imports, with the package that they need."""
EVERY_MODULE = """
import importlib, json, pkgutil, sampan
failed = {}
for module in pkgutil.walk_packages(sampan.__path__, "sampan."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        failed[module.name] = error.name
print(json.dumps([sampan.__file__, failed]))
"""


def dependencies(project: Path) -> list[str]:
    found: list[str] = tomllib.loads((project / "pyproject.toml").read_text())["project"]["dependencies"]
    return found


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of processes that have only the default dependencies."""
    return environment(tmp_path_factory.mktemp("default"), dependencies(ROOT), os.environ)


def loaded(*modules: str) -> list[str]:
    packages: list[str] = json.loads(output(LOADED.format(modules=modules), os.environ))
    return packages


def test_the_operator_toolkit_loads_five_packages() -> None:
    assert loaded("sampan.operator") == sorted([*CLIENT, "prometheus_client"])


def test_client_commands_load_six_packages() -> None:
    found = loaded("sampan.cli.main", *(_COMMANDS[name] for name in CLIENT_COMMANDS))
    assert found == sorted([*CLIENT, "click", "yaml"])


def test_a_server_starts_with_the_default_dependencies(default: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(
        command(tmp_path / "data", *NO_LOOPS), env=default, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        line = server.stdout.readline()
        server.terminate()
        assert line.startswith("ready https://"), server.stderr.read()


def encryption(provider: str) -> str:
    return f"""
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{{resources: [secrets], providers: [{provider}]}}]
"""


FEATURES = {
    "etcd": ("--storage", "etcd"),
    "cri": ("--node-runtime", "cri"),
    "tracing": (
        "--tracing-config-file",
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n",
    ),
    "kms": (
        "--encryption-provider-config",
        encryption("{kms: {apiVersion: v2, name: a, endpoint: 'unix:///tmp/kms.sock'}}"),
    ),
    "secretbox": (
        "--encryption-provider-config",
        encryption("{secretbox: {keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}}"),
    ),
}
"""Option that needs an extra, with its value or the content of its file."""


@pytest.fixture(scope="module")
def errors(default: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Lines that `sampan up` prints when an extra is absent, for each extra. All commands are imported before."""
    folder = tmp_path_factory.mktemp("features")
    arguments = {}
    for extra, (option, value) in FEATURES.items():
        file = folder / f"{extra}.yaml"
        file.write_text(value)
        chosen = value if option in ("--storage", "--node-runtime") else str(file)
        arguments[extra] = ["up", "--data", str(folder / "data"), "--port", "0", option, chosen]
    found: dict[str, list[str]] = json.loads(output(FAILING.format(modules=_COMMANDS, arguments=arguments), default))
    return found


@pytest.mark.parametrize(
    ("extra", "feature", "package"),
    [
        ("etcd", "etcd as a store", "grpc"),
        ("cri", "--node-runtime cri", "grpc"),
        ("kms", "the encryption provider kms", "google"),
        ("secretbox", "the encryption provider secretbox", "nacl"),
        ("tracing", "--tracing-config-file", "opentelemetry"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(
    errors: dict[str, list[str]], extra: str, feature: str, package: str
) -> None:
    [line] = errors[extra]
    assert line.startswith("sampan: error: ")
    assert line.endswith(
        f"{feature} needs the package {package}, which is not installed: pip install 'sampan[{extra}]'"
    )


def test_the_operators_distribution_needs_no_other_part_of_sampan(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=OPERATOR, capture_output=True, check=True)
    [wheel] = tmp_path.glob("*.whl")
    folder = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(folder)
    file, failed = json.loads(output(EVERY_MODULE, environment(folder, dependencies(OPERATOR), os.environ)))
    assert Path(file).is_relative_to(folder)
    assert failed == NOT_FOR_OPERATORS
