"""exec, attach and port_forward of the process runtime."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sampan.node.process import Isolation
from sampan.node.process.streams.output import BUFFER_BYTES_MAX, Output
from sampan.node.sessions import Streams
from sampan.node.views.container import Container
from tests.node.process.running import Node, node, output, pod, sh
from tests.node.process.test_containers import isolation, no_more

__all__ = ["isolation"]

TERMINAL = Streams(stdin=True, tty=True)
INPUT = Streams(stdin=True)


@pytest.fixture
async def sleeping(tmp_path: Path, isolation: Isolation) -> AsyncIterator[Node]:
    """Run a container that does nothing, in a working directory."""
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), "sleep", "60", env={"MODE": "test"}, working_dir="/tmp", host_name="web-0")
        yield found


async def test_exec_has_environment_directory_and_exit_code_of_the_container(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", sh("pwd; echo $MODE; echo no >&2; exit 9"), Streams())
    assert await output(session) == (b"/tmp\ntest\n", b"no\n", 9)


async def test_exec_joins_the_namespaces_of_the_container(tmp_path: Path) -> None:
    async with node(tmp_path, "auto") as found:
        await found.start(pod(), *sh("touch /etc/of-the-container; echo up; exec sleep 60"), host_name="web-0")
        await found.wait_for_output(pod(), b"up")
        script = sh("cat /etc/hostname; ls /etc/of-the-container; ls /proc")
        session = await found.runtime.exec(pod(), "main", script, Streams())
        stdout, _, _ = await output(session)
        if not stdout.startswith(b"web-0\n"):
            pytest.skip("this machine does not permit mount namespaces")
        assert b"/etc/of-the-container" in stdout
        assert len(re.findall(rb"^\d+$", stdout, re.MULTILINE)) == 3


async def test_exec_passes_input_to_its_end(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", ["md5sum"], INPUT)

    async def give() -> None:
        for _ in range(64):
            await session.write_stdin(bytes(1 << 16))
        await session.close_stdin()

    (stdout, _, code), _ = await asyncio.gather(output(session), give())
    assert (stdout, code) == (b"b5cfa9d6c8febd618f91ac2843d50a1c  -\n", 0)


async def test_exec_with_terminal_has_its_size_and_no_stderr(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", sh("read line; stty size; tty >&2; echo $line"), TERMINAL)
    session.resize(132, 43)
    await session.write_stdin(b"hello\n")
    stdout, stderr, code = await output(session)
    assert (b"43 132" in stdout, b"/dev/pts/" in stdout, stderr, code) == (True, True, b"", 0)


async def test_end_of_terminal_input_ends_a_shell(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", ["/bin/sh"], TERMINAL)
    await session.write_stdin(b"exit_code=5; trap 'exit 5' EXIT\n")
    await session.close_stdin()
    assert (await output(session))[2] == 5


async def test_control_c_reaches_the_program_of_a_terminal(sleeping: Node) -> None:
    script = sh("trap 'echo caught; exit 6' INT; echo up; while :; do sleep 0.02; done")
    session = await sleeping.runtime.exec(pod(), "main", script, TERMINAL)
    observed = b""
    while b"up" not in observed:
        observed += await session.read_stdout()
    await session.write_stdin(b"\x03")
    stdout, _, code = await output(session)
    assert (b"caught" in stdout, code) == (True, 6)


async def test_exec_of_a_missing_program_reports_it(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", ["no-such-program"], Streams())
    assert await output(session) == (b"", b'exec: "no-such-program": executable file not found in $PATH\n', 127)


async def test_unread_output_blocks_the_process(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", ["yes"], Streams())
    assert await session.read_stdout()
    await session.close()
    assert await session.wait() in (128 + 1, 128 + 13)


async def test_process_ends_when_its_client_disconnects(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", sh("trap '' HUP; echo up; sleep 51.55; :"), Streams())
    assert await session.read_stdout() == b"up\n"
    await session.close()
    await session.close()
    assert await session.wait() == 137
    await no_more(b"51.55")


async def test_output_arrives_while_other_processes_have_the_streams_open(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", sh("sleep 60 & echo done"), Streams())
    assert await output(session) == (b"done\n", b"", 0)


async def test_exec_ends_with_the_container(sleeping: Node) -> None:
    session = await sleeping.runtime.exec(pod(), "main", ["sleep", "61"], Streams())
    await sleeping.runtime.stop_containers(pod(), ["main"], 0)
    assert (await output(session))[2] == 137
    await sleeping.end(pod())
    with pytest.raises(LookupError, match="is not running"):
        await sleeping.runtime.exec(pod(), "main", ["true"], Streams())


async def test_exec_during_the_end_of_the_container_is_harmless(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), "sleep", "0.05")
        for _ in range(20):
            try:
                await output(await found.runtime.exec(pod(), "main", ["true"], Streams()))
            except LookupError:
                break
        await found.end(pod())


async def test_attach_shows_new_output_and_passes_input(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        script = sh("while read line; do echo got $line; echo e$line >&2; done")
        await found.start(pod(), *script, stdin=True, stdin_once=True)
        first = await found.runtime.attach(pod(), "main", INPUT)
        second = await found.runtime.attach(pod(), "main", Streams(stderr=False))
        await first.write_stdin(b"one\n")
        await first.close_stdin()
        assert await output(first) == (b"got one\n", b"eone\n", 0)
        assert await output(second) == (b"got one\n", b"", 0)
        assert (await found.end(pod())).exit_code == 0
        assert sorted(await found.log(pod())) == sorted(b"got one\neone\n")


async def test_attach_to_a_terminal(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.start(pod(), *sh("read line; stty size; echo $line"), stdin=True, tty=True)
        session = await found.runtime.attach(pod(), "main", TERMINAL)
        session.resize(80, 24)
        await session.write_stdin(b"hello\n")
        stdout, _, code = await output(session)
        assert (b"24 80\r\nhello\r\n" in stdout, code) == (True, 0)


async def test_detached_container_keeps_running(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        await found.start(pod(), "cat", stdin=True)
        session = await found.runtime.attach(pod(), "main", INPUT)
        await session.close()
        assert await session.read_stdout() == b""
        assert found.record(pod()).is_running


async def test_slow_client_gets_a_notice_and_is_detached() -> None:
    slow = Output()
    slow.put(bytes(BUFFER_BYTES_MAX))
    slow.put(b"too much")
    slow.put(b"more")
    read = await slow.read()
    assert len(read) < BUFFER_BYTES_MAX + 100
    assert b"too slow" in read
    assert await slow.read() == b""


async def test_ports_of_the_machine_belong_to_the_pod(tmp_path: Path) -> None:
    async def response(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    server = await asyncio.start_server(response, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with node(tmp_path) as found, server:
        await found.runtime.run_sandbox(pod())
        reader, writer = await found.runtime.port_forward(pod(), port)
        writer.write(b"hello\n")
        assert await reader.read() == b"hello\n"
        writer.close()
        await writer.wait_closed()


async def test_refused_port_is_an_error_with_a_reason(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        await found.runtime.run_sandbox(pod())
        message = "failed to connect to port 1 at 127.0.0.1: connection refused"
        with pytest.raises(ConnectionRefusedError, match=message):
            await found.runtime.port_forward(pod(), 1)
        with pytest.raises(LookupError):
            await found.runtime.port_forward(pod("other"), 1)


async def test_descriptors_are_released(tmp_path: Path, isolation: Isolation) -> None:
    async with node(tmp_path, isolation) as found:
        await found.run(pod("warm-up"), "true")
        before = len(os.listdir("/proc/self/fd"))
        for number in range(3):
            await found.run(pod(f"web-{number}"), "true", tty=True)
            await found.start(pod("long"), "sleep", "60", run=number)
            await output(await found.runtime.exec(pod("long"), "main", ["true"], Streams()))
            session = await found.runtime.exec(pod("long"), "main", ["cat"], TERMINAL)
            await session.close()
            await session.wait()
            await found.runtime.remove_sandbox(pod("long").metadata.uid)
        assert len(os.listdir("/proc/self/fd")) == before


async def test_unknown_container_is_a_lookup_error(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        await found.runtime.run_sandbox(pod())
        with pytest.raises(LookupError, match='container "main" not found in pod "web"'):
            await found.runtime.exec(pod(), Container("main").name, ["true"], Streams())


@pytest.mark.parametrize(("stdin_once", "tty"), [(False, False), (False, True), (True, True)])
async def test_end_of_client_input_detaches_from_a_container_that_reads_on(
    tmp_path: Path, isolation: Isolation, stdin_once: bool, tty: bool
) -> None:
    async with node(tmp_path, isolation) as found:
        script = sh("while read line; do echo got $line; done")
        await found.start(pod(), *script, stdin=True, stdin_once=stdin_once, tty=tty)
        streams = Streams(stdin=True, tty=tty)
        first = await found.runtime.attach(pod(), "main", streams)
        await first.write_stdin(b"one\n")
        await first.close_stdin()
        async with asyncio.timeout(30):
            await output(first)
        await first.close()
        second = await found.runtime.attach(pod(), "main", streams)
        await second.write_stdin(b"two\n")
        await found.wait_for_output(pod(), b"got two")
        assert found.record(pod()).is_running
