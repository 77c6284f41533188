"""Containers of the process runtime, with and without namespaces."""

import asyncio
import os
from pathlib import Path

import pytest

from sampan.node.process import Isolation
from sampan.node.process.proc import processes
from sampan.node.sessions import Mount
from tests.node.process.running import has_namespaces, node, pod, sh

BOTH: list[Isolation] = ["none", "namespaces"]


@pytest.fixture(params=BOTH)
async def isolation(request: pytest.FixtureRequest, tmp_path: Path) -> Isolation:
    """Return each kind of isolation that this machine supports."""
    way: Isolation = request.param
    if way == "namespaces" and not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    return way


async def test_exit_code_and_output_are_reported(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        code, log = await found.run(pod(), *sh("echo out; echo err >&2; exit 3"))
        assert (code, sorted(log.split())) == (3, [b"err", b"out"])
        assert found.record(pod()).reason == "Error"
        assert found.changed_keys == ["default/web"]


async def test_success_is_completed(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.run(pod(), "true")
        record = found.record(pod())
        assert (record.exit_code, record.reason, record.ready, record.id) == (
            0, "Completed", False, "process://uid-of-web/main/0",
        )  # fmt: skip


async def test_environment_of_the_agent_is_not_inherited(tmp_path: Path, isolation: Isolation) -> None:
    os.environ["OF_THE_AGENT"] = "1"
    try:
        async with node(tmp_path, isolation) as found:
            _, log = await found.run(pod(), "env", env={"MODE": "test", "PATH": "/bin:/usr/bin"})
    finally:
        del os.environ["OF_THE_AGENT"]
    names = {line.partition(b"=")[0] for line in log.splitlines()}
    assert names - {b"SAMPAN_ROOT", b"SAMPAN_CONTAINER_ID"} == {b"PATH", b"HOME", b"MODE"}


async def test_missing_program_is_a_start_error(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), "no-such-program")
        record = found.record(pod())
        assert (record.exit_code, record.reason, record.is_running) == (128, "StartError", False)
        assert 'exec: "no-such-program": executable file not found in $PATH' in record.message


async def test_container_without_command_and_entrypoint_is_a_start_error(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        await found.start(pod())
        message = found.record(pod()).message
        assert message.startswith(
            "failed to start container: no command specified: nodes with the runtime process pull"
        )
        assert message.endswith("or use --node-runtime cri")


async def test_same_run_starts_once(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        marker = tmp_path / "runs"
        mount = Mount("v", str(tmp_path), "/data")
        script = sh(f"echo run >> {'/data' if isolation == 'namespaces' else tmp_path}/{marker.name}")
        await asyncio.gather(*(found.start(pod(), *script, mounts=[mount]) for _ in range(3)))
        await found.end(pod())
        await found.start(pod(), *script, mounts=[mount])
        assert marker.read_text() == "run\n"


async def test_stop_signal_ends_a_program_without_handler_at_once(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), "sleep", "60")
        await found.runtime.stop_containers(pod(), ["main"], 30)
        assert (await found.end(pod())).exit_code == 143


async def test_signal_handler_determines_the_exit_code(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), *sh("trap 'echo bye; exit 7' USR1; echo up; while :; do sleep 0.01; done"),
                          stop_signal="SIGUSR1")  # fmt: skip
        await found.wait_for_output(pod(), b"up")
        await found.runtime.stop_containers(pod(), ["main"], 30)
        assert (await found.end(pod())).exit_code == 7
        assert await found.log(pod()) == b"up\nbye\n"


async def test_program_that_ignores_the_signal_is_killed(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), *sh("trap '' TERM; echo up; while :; do sleep 0.02; done"))
        await found.wait_for_output(pod(), b"up")
        await found.runtime.stop_containers(pod(), ["main"], 60)
        await found.runtime.stop_containers(pod(), ["main"], 0.05)
        assert (await found.end(pod())).exit_code == 137


async def test_descendants_end_with_the_container(tmp_path: Path, isolation: Isolation) -> None:
    daemons = "for i in 1 2 3 4 5 6 7 8 9 10; do (trap '' TERM HUP; setsid sleep 47.11 &) ; sleep 47.11 & done"
    async with node(tmp_path, isolation) as found:
        code, _ = await found.run(pod(), *sh(f"{daemons}; echo up"))
        assert code == 0
        await no_more(b"47.11")


async def test_removed_sandbox_leaves_nothing(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(
            pod(), *sh("trap '' TERM; setsid sleep 48.22 & touch here; mkdir -p a/b; chmod 0 a; echo up; wait")
        )
        await found.wait_for_output(pod(), b"up")
        await found.runtime.remove_sandbox(pod().metadata.uid)
        assert found.runtime.containers(pod().metadata.uid) == {}
        await no_more(b"48.22")
        assert left_in(tmp_path) == []
        await found.runtime.remove_sandbox(pod().metadata.uid)


async def test_early_close_and_binary_output_are_harmless(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        code, log = await found.run(pod(), *sh(r"printf '\000\377\r\n'; exec >&- 2>&-; sleep 0.05; exit 4"))
        assert (code, log) == (4, b"\x00\xff\r\n")


async def test_line_of_a_megabyte_is_logged_whole(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        code, log = await found.run(pod(), *sh("head -c 1000000 /dev/zero | tr '\\0' x"))
        assert (code, len(log), set(log)) == (0, 1_000_000, {ord("x")})


async def test_volumes_are_mounted_at_their_paths(tmp_path: Path, isolation: Isolation) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    (volume / "key").write_text("value")
    async with node(tmp_path / "node", isolation) as found:
        mount = Mount("v", str(volume), "/etc/sampan-test/config")
        path = "/etc/sampan-test/config" if isolation == "namespaces" else "$SAMPAN_ROOT/etc/sampan-test/config"
        code, log = await found.run(pod(), *sh(f"cat {path}/key; touch {path}/new"), mounts=[mount])
    assert (code, log) == (0, b"value")
    assert (volume / "new").exists()
    assert "sampan-test" not in os.listdir("/etc")


async def test_termination_message_is_read_from_its_file(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        path = "/dev/termination-log" if isolation == "namespaces" else "dev/termination-log"
        await found.run(pod(), *sh(f"echo out; printf why > {path}; exit 1"),
                        termination_message_path="/dev/termination-log")  # fmt: skip
        assert found.record(pod()).message == "why"


async def test_termination_message_falls_back_to_the_log(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        await found.run(pod(), *sh("echo early; echo late; exit 1"),
                        termination_message_policy="FallbackToLogsOnError")  # fmt: skip
        assert found.record(pod()).message == "early\nlate\n"


async def test_memory_is_limited_per_process(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        _, log = await found.run(pod(), *sh("ulimit -d; ulimit -c"), memory_limit_bytes=64 << 20)
        assert log == b"65536\n0\n"


async def test_restart_keeps_the_previous_run(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.run(pod(), *sh("echo first; exit 1"))
        await found.run(pod(), *sh("echo second"), run=1)
        record = found.record(pod())
        assert (record.restart_count, record.previous and record.previous.exit_code) == (1, 1)
        assert await found.log(pod()) == b"second\n"
        assert await found.log(pod(), previous=True) == b"first\n"


async def test_containers_end_with_the_agent(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), "sleep", "49.33")
    assert found.record(pod()).exit_code == 143
    await no_more(b"49.33")


async def test_usage_of_running_containers_is_known(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), *sh("i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; echo up; sleep 60"))
        await found.wait_for_output(pod(), b"up")
        usage = (await found.runtime.usage(pod().metadata.uid))["main"]
        assert usage.cpu_s > 0
        assert usage.memory_bytes > 100_000
        await found.runtime.stop_containers(pod(), ["main"], 0)
        await found.end(pod())
        assert await found.runtime.usage(pod().metadata.uid) == {}


async def test_input_is_empty_without_stdin(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        assert (await found.run(pod(), "cat"))[0] == 0


def left_in(root: Path) -> list[str]:
    """Return the files and mounts below a node's root, and its Pods."""
    files = [str(path) for path in root.rglob("*") if not path.is_dir()]
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(root) in line]
    return [*files, *mounts, *os.listdir(root / "pods")]


async def no_more(seconds: bytes) -> None:
    """Wait until no process `sleep <seconds>` exists: a killed process may need a moment to end."""
    async with asyncio.timeout(20):  # less than they sleep
        while _sleepers(seconds):  # noqa: ASYNC110 - they send no event
            await asyncio.sleep(0.01)


def _sleepers(seconds: bytes) -> list[int]:
    """Return the processes `sleep <seconds>`."""
    found = []
    for each in processes():
        try:
            if Path(f"/proc/{each.pid}/cmdline").read_bytes() == b"sleep\0" + seconds + b"\0" and each.state != "Z":
                found.append(each.pid)
        except OSError:
            pass
    return found
