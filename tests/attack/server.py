"""The server under attack: a process on a data directory that is removed afterwards, with users of static tokens."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.server import Server, running

from tests.attack.model import RBAC, Grant
from tests.attack.wire import Address, Client

USERS_MAX = 2000
"""User `u7` has the token `token-7`; the users of nodes and groups are made the same way."""
NODES = ("n1", "n2")
LOOPS = ("--controllers=clusterrole-aggregation-controller", "--no-scheduler", "--nodes=0")
SPACES = ("mine", "theirs")
KINDS = ("rolebindings", "roles")


@dataclass(frozen=True, slots=True)
class Attacked:
    """A running server."""

    server: Server
    data: Path

    @property
    def address(self) -> Address:
        """Return its address."""
        return Address(self.server.target.host, self.server.target.port)

    def admin(self) -> Client:
        """Return a client with all rights."""
        return Client(self.address, self.server.target.token)

    def user(self, number: int) -> Client:
        """Return a client of user `u<number>`, with the rights that an attack gives."""
        return Client(self.address, token_of(number))

    def node(self, name: str) -> Client:
        """Return a client of a node."""
        return Client(self.address, f"node-{name}")

    def anonymous(self) -> Client:
        """Return a client without credentials."""
        return Client(self.address)


def token_of(number: int) -> str:
    """Return the static token of a user."""
    return f"token-{number}"


@contextmanager
def attacked(*options: str) -> Iterator[Attacked]:
    """Run a server, ended in order. By default, only the control loop that fills aggregated roles runs."""
    with tempfile.TemporaryDirectory(prefix="sampan-attack-") as made:
        tokens = Path(made) / "tokens.csv"
        lines = [f"{token_of(number)},u{number},uid-{number}" for number in range(USERS_MAX)]
        lines += [f'node-{name},system:node:{name},node-{name},"system:nodes"' for name in NODES]
        tokens.write_text("\n".join(lines) + "\n")
        data = Path(made) / "data"
        with running(data, *(options or LOOPS), "--token-auth-file", str(tokens)) as server:
            yield Attacked(server, data)


async def give(attacked: Attacked, grants: Mapping[int, Sequence[Grant]]) -> None:
    """Give users exactly these rights. Rights that an earlier call gave are taken away."""
    async with attacked.admin() as admin:
        for path in ("clusterrolebindings", "clusterroles", *(f"namespaces/{n}/{k}" for n in SPACES for k in KINDS)):
            await admin.request("DELETE", f"{RBAC}/{path}?labelSelector=attack")
        for number, held in grants.items():
            for index, one in enumerate(held):
                for path, made in one.objects(f"attack-{number}-{index}", f"u{number}"):
                    made["metadata"]["labels"] = {"attack": ""}
                    reply = await admin.request("POST", path, made)
                    if reply.status != 201:
                        raise RuntimeError(reply.message)
