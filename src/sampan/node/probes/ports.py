"""Ports by number or name. Source: kubernetes pkg/probe/util.go `ResolveContainerPort` (1.36)."""

from sampan.node.views.container import Container


def resolve_port(port: int | str, container: Container) -> int:
    """Return the number of a port. Raises `ValueError`."""
    if isinstance(port, str):
        named = next((each.container_port for each in container.ports if each.name == port), None)
        if named is None and not port.isdecimal():
            raise ValueError(f"port {port} not found")
        port = int(port) if named is None else named
    if not 0 < port < 65536:
        raise ValueError(f"invalid port number: {port}")
    return port


def join_host_port(host: str, port: int) -> str:
    """Return `host:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
