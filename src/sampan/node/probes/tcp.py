"""TCP probe: checks that a port accepts connections. Source: kubernetes pkg/probe/tcp/tcp.go (1.36)."""

import asyncio

from sampan.core.addresses.dial import AddressNotAllowed, open_connection
from sampan.node.probes.outcome import Outcome
from sampan.node.probes.ports import join_host_port


async def probe_tcp(host: str, port: int, timeout_s: float) -> Outcome:
    """Connect and close."""
    address = join_host_port(host, port)
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await open_connection(host, port)
    except TimeoutError:
        return Outcome("failure", f"dial tcp {address}: i/o timeout")
    except ConnectionRefusedError:
        return Outcome("failure", f"dial tcp {address}: connect: connection refused")
    except AddressNotAllowed as error:
        return Outcome("failure", str(error))
    except OSError as error:
        return Outcome("failure", f"dial tcp {address}: {error}")
    writer.transport.abort()
    return Outcome("success")
