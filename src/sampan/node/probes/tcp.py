"""TCP probe: checks that a port accepts connections. Source: kubernetes pkg/probe/tcp/tcp.go (1.36)."""

import asyncio

from sampan.core.addresses.dial import AddressNotAllowed, open_connection
from sampan.node.probes.ports import join_host_port
from sampan.node.probes.result import ProbeResult


async def probe_tcp(host: str, port: int, timeout_s: float) -> ProbeResult:
    """Connect and close."""
    address = join_host_port(host, port)
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await open_connection(host, port)
    except TimeoutError:
        return ProbeResult("failure", f"dial tcp {address}: i/o timeout")
    except ConnectionRefusedError:
        return ProbeResult("failure", f"dial tcp {address}: connect: connection refused")
    except AddressNotAllowed as error:
        return ProbeResult("failure", str(error))
    except OSError as error:
        return ProbeResult("failure", f"dial tcp {address}: {error}")
    writer.transport.abort()
    return ProbeResult("success")
