"""`NeutronBackend`: OpenStack Neutron through openstacksdk.

Concurrency: the SDK blocks, so its calls run in a pool of threads, each with its own connection.
The identity is stored in the description. Unlike a tag, a description can be set at creation, so each network can be
found from the start.
"""

import asyncio
import functools
import ipaddress
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import openstack
from keystoneauth1.exceptions.base import ClientException
from openstack import exceptions

from network_operator.backend import Refused, Unavailable
from network_operator.plan import ActualNetwork, Desired, Subnet

T = TypeVar("T")

THREADS = 4


class NeutronBackend:
    """Client of a Neutron without Keystone at `endpoint` (`http://127.0.0.1:9696`). Close it with `aclose`."""

    def __init__(self, endpoint: str, *, timeout_s: float = 30) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="neutron")
        self._local = threading.local()

    async def aclose(self) -> None:
        """Wait for calls in progress, and end the threads."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    async def find(self, identity: str) -> list[ActualNetwork]:
        """Return all networks with this identity, the oldest first."""
        return await self._call(_find, identity)

    async def create_network(self, desired: Desired) -> None:
        """Create the network."""
        await self._call(_create_network, desired)

    async def rename_network(self, network_id: str, name: str) -> None:
        """Rename the network."""
        await self._call(_rename_network, network_id, name)

    async def delete_network(self, network_id: str) -> None:
        """Delete the network and its subnets."""
        await self._call(_delete_network, network_id)

    async def create_subnet(self, network_id: str, desired: Desired) -> None:
        """Create the subnet."""
        await self._call(_create_subnet, network_id, desired)

    async def update_gateway(self, subnet_id: str, desired: Desired) -> None:
        """Change the gateway of the subnet."""
        await self._call(_update_gateway, subnet_id, desired)

    async def delete_subnet(self, subnet_id: str) -> None:
        """Delete the subnet."""
        await self._call(_delete_subnet, subnet_id)

    async def _call(self, function: Callable[..., T], *args: Any) -> T:
        call = functools.partial(self._in_thread, function, *args)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _in_thread(self, function: Callable[..., T], *args: Any) -> T:
        try:
            return function(self._network(), *args)
        except exceptions.BadRequestException as error:
            raise Refused(_text(error)) from error
        except (exceptions.SDKException, ClientException) as error:
            raise Unavailable(_text(error)) from error

    def _network(self) -> Any:
        if not hasattr(self._local, "network"):
            connection = openstack.connect(
                auth_type="none",
                endpoint=self._endpoint,
                load_yaml_config=False,
                load_envvars=False,
                api_timeout=self._timeout_s,
            )
            self._local.network = connection.network
        return self._local.network


def _text(error: Exception) -> str:
    details = getattr(error, "details", None)
    return str(details or error)


def _find(network: Any, identity: str) -> list[ActualNetwork]:
    found = sorted(network.networks(description=identity), key=lambda each: (each.created_at or "", each.id))
    return [ActualNetwork(each.id, each.name, _subnets(network, each.id, identity)) for each in found]


def _subnets(network: Any, network_id: str, identity: str) -> tuple[Subnet, ...]:
    found = network.subnets(network_id=network_id, description=identity)
    ordered = sorted(found, key=lambda each: (each.created_at or "", each.id))
    return tuple(Subnet(each.id, each.cidr, each.gateway_ip or "") for each in ordered)


def _create_network(network: Any, desired: Desired) -> None:
    network.create_network(name=desired.name, description=desired.identity)


def _rename_network(network: Any, network_id: str, name: str) -> None:
    network.update_network(network_id, name=name)


def _delete_network(network: Any, network_id: str) -> None:
    network.delete_network(network_id, ignore_missing=True)


def _create_subnet(network: Any, network_id: str, desired: Desired) -> None:
    network.create_subnet(
        network_id=network_id,
        name=desired.name,
        description=desired.identity,
        cidr=desired.cidr,
        gateway_ip=desired.gateway,
        ip_version=ipaddress.ip_network(desired.cidr).version,
    )


def _update_gateway(network: Any, subnet_id: str, desired: Desired) -> None:
    """Update the allocation pools too, because Neutron refuses a gateway inside the current pools."""
    network.update_subnet(subnet_id, gateway_ip=desired.gateway, allocation_pools=pools(desired.cidr, desired.gateway))


def _delete_subnet(network: Any, subnet_id: str) -> None:
    network.delete_subnet(subnet_id, ignore_missing=True)


def pools(cidr: str, gateway: str) -> list[dict[str, str]]:
    """Return the address ranges for hosts: without the network, broadcast and gateway addresses."""
    network = ipaddress.ip_network(cidr)
    first, last = int(network.network_address), int(network.broadcast_address)
    small = network.num_addresses <= 2
    begin = first if small else first + 1
    end = last if small or network.version == 6 else last - 1
    middle = int(ipaddress.ip_address(gateway))
    ranges = (
        [(begin, min(end, middle - 1)), (max(begin, middle + 1), end)] if begin <= middle <= end else [(begin, end)]
    )
    address = type(network.network_address)
    return [{"start": str(address(low)), "end": str(address(high))} for low, high in ranges if low <= high]
