"""An extension API server in front of a cluster: it passes on requests below its own path to that cluster.

Concurrency: an event loop in a separate thread. Each connection carries one request; two tasks pass on its bytes.
"""

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/apis/members.example.com/v1/clusters/one/proxy"
_DROPPED = (b"authorization:", b"x-remote-", b"host:")


@dataclass
class Members:
    """Answers at `port`. The cluster is the server at `target` on loopback; requests to it carry `token`."""

    target: int
    token: str
    certificate: Path
    key: Path
    requested: list[str] = field(default_factory=list)
    """The paths, as the cluster gets them."""
    port: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Until the end of the block."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        server = asyncio.run_coroutine_threadsafe(self._listen(), loop).result(20)
        try:
            yield
        finally:
            loop.call_soon_threadsafe(server.close)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.run_until_complete(_end_tasks(loop))
            loop.close()

    async def _listen(self) -> asyncio.Server:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificate, self.key)
        server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0, ssl=tls)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *headers = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
            method, path, version = first.split(b" ")
            if not path.startswith(PATH.encode() + b"/"):
                writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
                return
            path = path[len(PATH) :]
            self.requested.append(path.decode().partition("?")[0])
            retained = [line for line in headers if not line.lower().startswith(_DROPPED)]
            if not any(line.lower().startswith(b"upgrade:") for line in retained):
                retained = [line for line in retained if not line.lower().startswith(b"connection:")]
                retained.append(b"Connection: close")
            retained += [b"Host: localhost", b"Authorization: Bearer " + self.token.encode()]
            head = b"\r\n".join([b" ".join([method, path, version]), *retained]) + b"\r\n\r\n"
            await _joined(reader, writer, head, self.target)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


async def _joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes, port: int) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    there, back = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    back.write(head)
    await asyncio.gather(_copy(reader, back), _copy(there, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
