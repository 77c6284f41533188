"""The process of control loops beside a server: when it is started, and when it is not."""

import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sampan.app import controller_manager_child as child
from sampan.app.controller_manager.cidr_settings import NodeCidrSettings
from sampan.app.controller_manager.load_balancer_settings import LoadBalancerSettings
from sampan.app.controller_manager_child import NETWORK_LOOPS, LoopsChild, command_of, components_of, network_command_of
from sampan.app.engines import EtcdEngine
from sampan.app.settings.up import UpSettings
from sampan.component_base.load_balancer import AddressRange
from sampan.core.telemetry.log_settings import LogSettings

WAIT_S = 60.0


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "BACKOFF_FIRST_S", 0.0)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_without_enabled_loops_no_process_is_started() -> None:
    assert command_of(UpSettings(controllers="", scheduler=False, nodes=0)) is None


@pytest.mark.parametrize(
    ("settings", "beside"),
    [
        (UpSettings(), {"controller-manager", "scheduler"}),
        (UpSettings(controllers="", scheduler=True), {"scheduler"}),
        (UpSettings(storage=EtcdEngine()), set()),
    ],
    ids=["all", "scheduler", "several servers"],
)
def test_the_server_has_the_components_that_run_next_to_it(settings: UpSettings, beside: set[str]) -> None:
    components = components_of(settings, LoopsChild(None))
    assert {name for name, component in components.items() if component.fault is not None} == beside


def test_of_several_servers_the_lease_of_the_loops_reports_of_the_scheduler_too() -> None:
    components = components_of(UpSettings(storage=EtcdEngine()), LoopsChild(None))
    assert "kube-controller-manager" in components["scheduler"].leases
    alone = components_of(UpSettings(storage=EtcdEngine(), scheduler=False), LoopsChild(None))
    assert alone["scheduler"].leases == ("kube-scheduler",)


def test_ranges_for_nodes_are_allocated_only_if_that_is_reported() -> None:
    assert not any("cidr" in word for word in command_of(UpSettings()) or ())
    command = command_of(UpSettings(node_cidrs=NodeCidrSettings(True, ("10.1.0.0/16",), 26)))
    options = ["--allocate-node-cidrs=true", "--cluster-cidr=10.1.0.0/16", "--node-cidr-mask-size=26"]
    assert [word for word in command or () if "cidr" in word] == options


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (UpSettings(local_path=False), ["--local-path=false"]),
        (UpSettings(local_path=True), ["--local-path=true"]),
        (UpSettings(node_runtime="cri", service_proxy=True), ["--load-balancer=true"]),
        (UpSettings(node_runtime="cri"), []),
        (UpSettings(service_proxy=True), []),
        (
            UpSettings(node_runtime="cri", service_proxy=True, load_balancer=LoadBalancerSettings(load_balancer=False)),
            [],
        ),
        (
            UpSettings(load_balancer=LoadBalancerSettings(load_balancer_pool=(AddressRange.parse("192.0.2.0/28"),))),
            ["--load-balancer=true", "--load-balancer-pool=192.0.2.0-192.0.2.15"],
        ),
    ],
    ids=["no class", "class", "containers", "no proxy", "no containers", "off", "pool"],
)
def test_bundled_parts_are_options_of_the_loops(settings: UpSettings, options: list[str]) -> None:
    names = ("--local-path", "--load-balancer")
    assert [word for word in command_of(settings) or () if word.startswith(names)] == options


def test_the_command_has_the_configured_options() -> None:
    command = command_of(UpSettings(data=Path("d"), controllers="*,-job-controller", scheduler=False, nodes=2))
    assert command is not None
    assert command[3:] == [
        "loops",
        "--kubeconfig=d/kubeconfig",
        "--controllers=*,-job-controller",
        "--no-scheduler",
        "--nodes=2",
        "--service-account-private-key-file=d/pki/sa.key",
        "--cluster-signing-cert-file=d/pki/ca.crt",
        "--cluster-signing-key-file=d/pki/ca.key",
        "--log-level=info",
        "--log-format=auto",
    ]


@pytest.mark.parametrize(("verbosity", "level"), [(0, "warning"), (1, "info")])
def test_on_a_terminal_the_loops_log_routine_messages_only_with_v(verbosity: int, level: str) -> None:
    command = command_of(UpSettings(log=LogSettings(format="console"), verbosity=verbosity))
    assert f"--log-level={level}" in (command or ())


def test_the_command_has_the_configured_probe_address() -> None:
    command = command_of(UpSettings(loops_probe_address="127.0.0.1:8080"))
    assert command is not None
    assert "--probe-address=127.0.0.1:8080" in command


class LogCollector(logging.Handler):
    """Waits for a line of the log."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._texts = asyncio.Event()
        self.pid = 0

    def emit(self, record: logging.LogRecord) -> None:
        if self._text in record.getMessage():
            self.pid = vars(record).get("pid", 0)
            self._texts.set()

    async def wait(self) -> None:
        async with asyncio.timeout(WAIT_S):
            await self._texts.wait()


@contextmanager
def logged(text: str) -> Iterator[LogCollector]:
    """Listen to the log of the application."""
    log = logging.getLogger("sampan.app")
    handler = LogCollector(text)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    yield handler
    log.removeHandler(handler)
    log.setLevel(level)


async def begin_and_end(command: list[str]) -> int:
    """Run a process until it has started, then end it; gives its id."""
    with logged("control loops started") as started:
        task = asyncio.create_task(LoopsChild(command).run())
        await started.wait()
        task.cancel()
        await asyncio.wait({task}, timeout=WAIT_S)
        assert task.cancelled()
    return started.pid


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_process_that_ends_is_started_again(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = "import pathlib, sys; f = pathlib.Path(sys.argv[1]); f.open('a').write('x'); n = f.stat().st_size"
    command = [*python(f"{code}; sys.exit(2 if n == 3 else 1)"), str(begun)]
    async with asyncio.timeout(WAIT_S):
        await LoopsChild(command).run()
    assert begun.read_text() == "xxx"


async def test_a_program_that_is_not_there_is_reported() -> None:
    loops = LoopsChild(["/nonexistent/program"])
    with logged("cannot start the control loops") as failed:
        task = asyncio.create_task(loops.run())
        await failed.wait()
        task.cancel()
        await asyncio.wait({task})
    assert loops.fault().startswith("cannot start the control loops: ")


async def test_a_process_has_no_fault_while_it_runs() -> None:
    loops = LoopsChild(python("import sys; sys.stdin.read()"))
    assert loops.fault() == "the control loops have not been started"
    with logged("control loops started") as started:
        task = asyncio.create_task(loops.run())
        await started.wait()
        assert loops.fault() == ""
        task.cancel()
        await asyncio.wait({task})


async def test_a_process_that_ended_is_a_fault() -> None:
    loops = LoopsChild(python("import sys; sys.exit(2)"))
    await loops.run()
    assert loops.fault() == "the control loops ended with code 2"


async def test_the_process_ends_with_its_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "END_S", 2 * WAIT_S)
    assert not is_there(await begin_and_end(python("import sys; sys.stdin.read()")))


async def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "END_S", 0.05)
    assert not is_there(await begin_and_end(python("import time; time.sleep(600)")))


def test_on_a_store_that_servers_share_the_loops_are_led() -> None:
    command = command_of(UpSettings(storage=EtcdEngine()))
    assert command is not None
    assert "--leader-elect" in command
    alone = command_of(UpSettings())
    assert alone is not None
    assert "--leader-elect" not in alone


def test_dns_and_service_proxy_have_a_process_without_control_loops() -> None:
    settings = UpSettings(data=Path("d"), dns=True, dns_address="127.0.0.1:5353", service_proxy=True, nodes=2)
    assert not any("dns" in word or "proxy" in word for word in command_of(settings) or ())
    command = network_command_of(settings)
    assert command is not None
    assert command[3:] == [
        "loops",
        "--kubeconfig=d/kubeconfig",
        "--controllers=",
        "--no-scheduler",
        "--nodes=0",
        "--dns=true",
        "--dns-address=127.0.0.1:5353",
        "--service-proxy=true",
        "--service-proxy-node=node-1",
        "--log-level=info",
        "--log-format=auto",
    ]


def test_without_dns_and_service_proxy_there_is_no_process_for_them() -> None:
    assert network_command_of(UpSettings()) is None


def test_without_control_loops_dns_still_runs() -> None:
    settings = UpSettings(controllers="", scheduler=False, nodes=0, dns=True)
    assert command_of(settings) is None
    assert "--dns=true" in (network_command_of(settings) or ())


def test_each_process_has_its_own_health_and_metrics() -> None:
    settings = UpSettings(dns=True, loops_probe_address="127.0.0.1:8080", network_probe_address="127.0.0.1:8081")
    assert "--probe-address=127.0.0.1:8080" in (command_of(settings) or ())
    assert "--probe-address=127.0.0.1:8081" in (network_command_of(settings) or ())


async def test_messages_name_the_process() -> None:
    network = LoopsChild(python("import sys; sys.exit(2)"), NETWORK_LOOPS)
    await network.run()
    assert network.fault() == "the network loops ended with code 2"
