"""The launcher: namespaces without privileges, and launches that fail."""

import asyncio
import marshal
import os
import select
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sampan.node.process.launch import Launcher, LaunchError, LaunchSpec, View, _Launch, _spec
from sampan.node.process.proc import process_stat, processes
from sampan.node.process.process import Process
from sampan.node.process.streams.stdio import Stdio, open_stdio
from sampan.node.sessions import Mount, Streams
from tests.node.process.running import has_namespaces, host_programs, sh

_ENV = {"PATH": "/usr/bin:/bin"}
_SLEEP = LaunchSpec(["sleep", "60"], _ENV)


@asynccontextmanager
async def launching() -> AsyncIterator[Launcher]:
    launcher = Launcher()
    try:
        yield launcher
    finally:
        launcher.close()


async def launch(program: LaunchSpec, stdio: Stdio, recorded: Callable[[int], None]) -> Process:
    async with launching() as launcher:
        return await launcher.launch(program, stdio, recorded)


async def started(program: LaunchSpec) -> tuple[Process, Stdio]:
    stdio = open_stdio(Streams())
    return await launch(program, stdio, lambda pid: None), stdio


async def output(program: LaunchSpec) -> bytes:
    process, stdio = await started(program)
    assert stdio.stdout is not None
    found = b""
    while part := await stdio.stdout.read():
        found += part
    await process.wait()
    stdio.close()
    return found


async def test_user_namespace_needs_no_privileges(tmp_path: Path) -> None:
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    volume = tmp_path / "volume"
    volume.mkdir()
    view = View("/", str(tmp_path / "run"), [Mount("v", str(volume), "/volume/deep")], "web-0")
    script = "id -u; id -g; hostname; touch /volume/deep/new /of-the-container && ls /proc | grep -c '^[0-9]'; sleep 60"
    process, stdio = await started(LaunchSpec(sh(script), _ENV, view=view, inner_ids=(1234, 5678)))
    assert stdio.stdout is not None
    found = b""
    while found.count(b"\n") < 4:
        found += await stdio.stdout.read()
    assert found == b"1234\n5678\nweb-0\n3\n"
    beside = LaunchSpec(sh("id -u; hostname; ls /volume/deep"), _ENV, inner_ids=(1234, 5678), join=process.pid)
    assert await output(beside) == b"1234\nweb-0\nnew\n"
    process.kill_group()
    assert await process.wait() == 137
    stdio.close()
    assert not Path("/of-the-container").exists()  # noqa: ASYNC240 - checked once, without waiting


@pytest.fixture
async def image(tmp_path: Path) -> Path:
    """Return an image with the machine's programs, and a directory of 300 entries in it."""
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    for number in range(300):
        (tmp_path / "image" / "crowd" / str(number)).mkdir(parents=True)
    (tmp_path / "image" / "bin").symlink_to("usr/bin")
    return tmp_path / "image"


async def test_crowded_directory_is_writable_even_with_scratch_files_in_it(image: Path) -> None:
    view = View(str(image), str(image / "crowd" / "run"), host_programs(), "web-0")
    script = sh("cd /crowd && touch new 7/new && echo *w 7/*")
    assert await output(LaunchSpec(script, _ENV, view=view)) == b"new 7/new\n"
    assert not (image / "crowd" / "new").exists()
    assert not (image / "crowd" / "7" / "new").exists()


async def test_agents_files_in_a_crowded_directory_are_hidden(image: Path) -> None:
    agent = image / "crowd" / "agent"
    (agent / "volumes" / "secret").mkdir(parents=True)
    (agent / "volumes" / "secret" / "key").write_text("content")
    view = View(str(image), str(agent / "run"), host_programs(), "web-0", hidden=str(agent))
    found = await output(LaunchSpec(sh("echo /crowd/* | wc -w; ls -A /crowd/agent; touch /crowd/new"), _ENV, view=view))
    assert found == b"301\n"


async def test_container_has_an_empty_directory_for_temporary_files(image: Path) -> None:
    script = sh("echo /tmp/* && touch /tmp/new && echo /tmp/* && stat -c %a /tmp")
    view = View("/", str(image / "run"))
    assert await output(LaunchSpec(script, _ENV, view=view)) == b"/tmp/*\n/tmp/new\n1777\n"
    assert not Path("/tmp/new").exists()  # noqa: ASYNC240 - checked once, without waiting


async def test_container_starts_while_files_next_to_its_scratch_files_change(image: Path) -> None:
    busy, over = image / "busy", threading.Event()
    busy.mkdir()

    def come_and_go() -> None:
        while not over.is_set():
            for number in range(20):
                (busy / f"d{number}").mkdir()
                (busy / f"f{number}").touch()
            for number in range(20):
                (busy / f"d{number}").rmdir()
                (busy / f"f{number}").unlink()

    work = asyncio.create_task(asyncio.to_thread(come_and_go))
    try:
        for number in range(10):
            view = View(str(image), str(busy / f"run-{number}"), host_programs(), "web-0")
            assert await output(LaunchSpec(sh("echo here"), _ENV, view=view)) == b"here\n"
    finally:
        over.set()
        await work


async def test_program_runs_only_after_it_is_recorded(tmp_path: Path) -> None:
    marker = tmp_path / "ran"

    def refuse(pid: int) -> None:
        assert process_stat(pid) is not None
        raise OSError("no space left on device")

    stdio = open_stdio(Streams())
    with pytest.raises(OSError, match="no space"):
        await launch(LaunchSpec(["touch", str(marker)], _ENV), stdio, refuse)
    stdio.close()
    assert not marker.exists()


@pytest.mark.parametrize("iterations", range(1, 12, 2))
async def test_cancelled_launch_leaves_no_process(iterations: int) -> None:
    pids: list[int] = []
    stdio = open_stdio(Streams())
    task = asyncio.create_task(launch(_SLEEP, stdio, pids.append))
    for _ in range(iterations):
        await asyncio.sleep(0.002)
    task.cancel()
    try:
        process = await task
    except asyncio.CancelledError:
        assert all(process_stat(pid) is None for pid in pids)
    else:
        process.kill_group()
        await process.wait()
    stdio.close()


async def test_launch_that_is_cancelled_before_its_pid_is_known_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")

    async def cancelled(self: Any, program: LaunchSpec, recorded: Callable[[int], None]) -> Process:
        channel: socket.socket = self._channel
        while self._starter is None:
            await self._read_messages()
        spec = marshal.dumps(_spec(program))
        await asyncio.get_running_loop().sock_sendall(channel, len(spec).to_bytes(8, "big") + spec)
        await asyncio.to_thread(select.select, [channel], [], [])
        raise asyncio.CancelledError

    async with launching() as launcher:
        await (
            await launcher.launch(LaunchSpec(["true"], _ENV), stdio := open_stdio(Streams()), lambda pid: None)
        ).wait()
        stdio.close()
        before = _children()
        monkeypatch.setattr(_Launch, "run", cancelled)
        view = View("/", str(tmp_path / "run"))
        with pytest.raises(asyncio.CancelledError):
            await launcher.launch(
                LaunchSpec(["true"], _ENV, view=view), stdio := open_stdio(Streams()), lambda pid: None
            )
        stdio.close()
        assert _children() == before


def _children() -> set[int]:
    return {each.pid for each in processes() if each.parent == os.getpid()}


async def test_missing_mount_source_is_an_error(tmp_path: Path) -> None:
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    view = View("/", str(tmp_path / "run"), [Mount("v", "/no/such/directory", "/volume")])
    stdio = open_stdio(Streams())
    with pytest.raises(LaunchError, match="mount /volume: No such file or directory"):
        await launch(LaunchSpec(["true"], _ENV, view=view), stdio, lambda pid: None)
    stdio.close()


async def test_machine_directories_refuse_mounts(tmp_path: Path) -> None:
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    view = View("/", str(tmp_path / "run"), [Mount("v", str(tmp_path), "/sys/not-there")])
    stdio = open_stdio(Streams())
    with pytest.raises(LaunchError, match="cannot mount anything at /sys/not-there"):
        await launch(LaunchSpec(["true"], _ENV, view=view), stdio, lambda pid: None)
    stdio.close()


@pytest.mark.parametrize("inner_ids", [None, (0, 0)], ids=["privileged", "in a user namespace"])
async def test_crowded_directory_with_mounts_inside_is_writable(image: Path, inner_ids: tuple[int, int] | None) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may mount something for others to see")
    crowd, other = image / "crowd", image.parent / "other"
    other.write_text("other")
    for name in ("file", "fifo"):
        (crowd / name).touch()
    (crowd / "8" / "file").write_text("file")
    os.mkfifo(image / "fifo")
    (image.parent / "volume" / "own").mkdir(parents=True)
    script = f"""
set -e; cd {crowd}
mount -t tmpfs tmpfs 7; touch 7/of-the-mount; mkdir 7/inner 7/below; mount -t tmpfs tmpfs 7/inner; touch 7/inner/deep
mount --bind {other} file; mount --bind {image}/fifo fifo; mount --bind / 9
cd {Path.cwd()}; exec "$@"
"""
    call = f"from tests.node.process.test_launch import nested; nested({str(image)!r}, {inner_ids})"
    command = ["unshare", "-m", *sh(script), "sh", sys.executable, "-c", call]
    child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    stdout, _ = await child.communicate()
    visible = ["below", "inner", "of-the-mount", "deep", "file", "other", "own", "etc", "written"]
    assert stdout.decode().split() == visible
    assert sorted(os.listdir(crowd / "8")) == ["file"]
    assert (other.read_text(), (crowd / "new").exists()) == ("other", False)


def nested(image: str, inner_ids: tuple[int, int] | None) -> None:
    """Print what a container of the image sees of the mounts inside its directories, and that it can write."""
    volumes = [
        Mount("v", str(Path(image).with_name("volume")), path) for path in ("/crowd/7/below/v", "/crowd/new/deep")
    ]
    script = (
        "cd /crowd; ls 7 7/inner | grep -v :; cat 8/file; echo; cat file; echo; ls 7/below/v; ls -d 9/etc | cut -c3-; "
        "touch new-file 7/new 7/inner/new 8/new && echo written"
    )
    view = View(image, f"{image}/crowd/run", [*host_programs(), *volumes])
    print(asyncio.run(output(LaunchSpec(sh(script), _ENV, view=view, inner_ids=inner_ids))).decode(), end="")


async def test_dead_launcher_is_started_again() -> None:
    async with launching() as launcher:
        for _ in range(2):
            stdio = open_stdio(Streams())
            process = await launcher.launch(LaunchSpec(["true"], _ENV), stdio, lambda pid: None)
            assert await process.wait() == 0
            stdio.close()
            assert launcher._control is not None
            launcher._control.shutdown(socket.SHUT_WR)
