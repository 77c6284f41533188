"""A network of the run's own: each machine in a network namespace, the run itself the router between them.

So packets between any two machines can be lost, also in one direction only; nothing of it outlives the run.

    if isolate("tests.robustness"): ...      # does not return where namespaces are permitted: goes on within
    with Network() as network:
        host = network.host("m0")            # processes start with `host.prefix` before their command
        network.lose(host, other)
"""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_WITHIN = "SAMPAN_TEST_NAMESPACES"
_BEFORE_OTHERS = "50"


def isolate(module: str, arguments: list[str]) -> None:
    """Continue as `python -m module` in new namespaces. Return if that is not permitted, or done already."""
    if isolated():
        return
    flags = unshare_flags()
    if flags:
        os.environ[_WITHIN] = "1"
        os.execvp("unshare", ["unshare", *flags, sys.executable, "-m", module, *arguments])


def isolated() -> bool:
    """Return whether this process runs in the namespaces that `isolate` made."""
    return _WITHIN in os.environ


def unshare_flags() -> list[str]:
    """Return the flags of `unshare` for new network and mount namespaces; empty: the machine does not permit them."""
    flags = ["--net", "--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net", "--mount"]
    with suppress(OSError):
        line = ["unshare", *flags, "sh", "-c", "ip link set lo up && ip link add v0 type veth peer name v1"]
        if subprocess.run(line, capture_output=True, check=False).returncode == 0:
            return flags
    return []


@dataclass(frozen=True)
class Host:
    """A machine's place in the network."""

    address: str
    prefix: tuple[str, ...] = ()
    """The beginning of each command that runs there."""
    router: str = "127.0.0.1"
    """The address at which it reaches listeners in the run's main namespace."""


LOOPBACK = Host("127.0.0.1")


class Network:
    """Hosts that reach each other through this process's namespace. A context; it ends all that is left of them."""

    def __init__(self) -> None:
        self._holders: list[subprocess.Popen[bytes]] = []
        self._lost: set[tuple[str, str]] = set()

    def __enter__(self) -> Self:
        _ip("link", "set", "lo", "up")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.repair()
        for number, holder in enumerate(self._holders, start=1):
            _ip("link", "delete", f"h{number}")
            holder.communicate()

    def host(self) -> Host:
        """A new one. Its namespace lives as long as a process that waits for the end of its input."""
        holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._holders.append(holder)
        number = len(self._holders)
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(b"there\n")
        holder.stdout.read(1)
        there = ("nsenter", f"--target={holder.pid}", "--net")
        near, far = f"10.77.{number}.1", f"10.77.{number}.2"
        _ip("link", "add", f"h{number}", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        _ip("addr", "add", f"{near}/30", "dev", f"h{number}")
        _ip("link", "set", f"h{number}", "up")
        for line in (
            ("link", "set", "lo", "up"),
            ("addr", "add", f"{far}/30", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("route", "add", "default", "via", near),
        ):
            _ip(*line, prefix=there)
        return Host(far, there, near)

    def lose(self, source: Host, target: Host) -> None:
        """Drop all packets from `source` to `target` from now on."""
        pair = (source.address, target.address)
        if pair not in self._lost:
            self._lost.add(pair)
            _rule("add", pair)

    def part(self, one: Host, other: Host) -> None:
        """They do not reach each other in either direction."""
        self.lose(one, other)
        self.lose(other, one)

    def repair(self) -> None:
        """All reach all."""
        while self._lost:
            _rule("del", self._lost.pop())


def _rule(verb: str, pair: tuple[str, str]) -> None:
    _ip("rule", verb, "pref", _BEFORE_OTHERS, "from", pair[0], "to", pair[1], "blackhole")


def _ip(*arguments: str, prefix: tuple[str, ...] = ()) -> None:
    subprocess.run([*prefix, "ip", *arguments], check=True)
