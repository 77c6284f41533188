"""Transactions: any sequence of changes leads to the table that a rebuild gives."""

from hypothesis import given
from hypothesis import strategies as st

from sampan.component_base.nftables.table import BASE, Table
from sampan.service_proxy.family import IPV4
from sampan.service_proxy.model import Model
from sampan.service_proxy.views import EndpointSlice, Service
from tests.service_proxy.fake_nft import FakeTable
from tests.service_proxy.objects import NODE, OPTIONS, piece, service

NAMES = ("web", "api", "dns")
SERVICES = st.builds(
    service,
    st.sampled_from(NAMES),
    st.sampled_from(("10.96.0.10", "10.96.0.11", "None")),
    protocol=st.sampled_from(("TCP", "UDP")),
    type=st.sampled_from(("ClusterIP", "NodePort", "ExternalName")),
    node_port=st.sampled_from((0, 30080)),
    external_ips=st.sampled_from(((), ("192.0.2.1",))),
    session_affinity=st.sampled_from(("None", "ClientIP")),
    internal_traffic_policy=st.sampled_from(("Cluster", "Local")),
    external_traffic_policy=st.sampled_from(("Cluster", "Local")),
)
ADDRESSES = st.lists(st.integers(2, 5).map("10.244.1.{}".format), unique=True, max_size=3)
SLICES = st.builds(
    lambda addresses, ready, protocol: piece(*addresses, ready=ready, protocol=protocol),
    ADDRESSES,
    st.booleans(),
    st.sampled_from(("TCP", "UDP")),
)
CHANGES = st.lists(st.tuples(st.sampled_from(NAMES), st.none() | SERVICES | SLICES, st.booleans()), max_size=12)


class Programmed:
    """A model, its table, and the kernel that runs the transactions."""

    def __init__(self) -> None:
        self.model = Model(NODE, OPTIONS)
        self.table = Table("ip test")
        self.kernel = FakeTable()
        self.table.put(BASE, self.model.base(IPV4))

    def change(self, name: str, change: Service | EndpointSlice | None) -> None:
        key = f"default/{name}"
        if isinstance(change, EndpointSlice):
            self.model.put_slice(key, key, change)
        else:
            self.model.put_service(key, change)
        self.table.put(key, self.model.fragment(key, IPV4))

    def write(self) -> None:
        self.kernel.run(self.table.transaction())
        self.table.written()


@given(CHANGES)
def test_small_transactions_lead_to_the_table_of_a_rebuild(
    changes: list[tuple[str, Service | EndpointSlice | None, bool]],
) -> None:
    found = Programmed()
    for name, change, writes in changes:
        found.change(name, change)
        if writes:
            found.write()
    found.write()
    written = FakeTable(dict(found.kernel.chains), dict(found.kernel.sets))
    found.table.failed()
    found.write()
    assert found.kernel == written


def test_a_change_of_one_endpoint_touches_only_its_service() -> None:
    found = Programmed()
    for name, address, numbers in (("web", "10.96.0.10", (2, 3)), ("api", "10.96.0.11", (5, 6))):
        found.change(name, service(name, address))
        found.change(name, piece(*(f"10.244.1.{number}" for number in numbers)))
    found.write()
    found.change("web", piece("10.244.1.2", "10.244.1.4"))
    assert found.table.transaction().splitlines() == [
        "flush chain ip test cluster-default/web/tcp/80",
        "delete element ip test hairpin-connections { 10.244.1.3 . 10.244.1.3 . tcp . 8080 }",
        "add rule ip test cluster-default/web/tcp/80 numgen random mod 2 0 meta l4proto tcp dnat to 10.244.1.2:8080",
        "add rule ip test cluster-default/web/tcp/80 meta l4proto tcp dnat to 10.244.1.4:8080",
        "add element ip test hairpin-connections { 10.244.1.4 . 10.244.1.4 . tcp . 8080 }",
    ]


def test_an_address_of_two_services_belongs_to_the_first_by_name() -> None:
    found = Programmed()
    for name, address in (("web", "10.96.0.10"), ("api", "10.96.0.11")):
        found.change(name, service(name, address, external_ips=("192.0.2.1",)))
        found.change(name, piece("10.244.1.2"))
        found.write()
    assert found.kernel.sets["service-ips"]["192.0.2.1 . tcp . 80"] == "goto external-default/api/tcp/80"
    found.change("api", None)
    found.write()
    assert found.kernel.sets["service-ips"]["192.0.2.1 . tcp . 80"] == "goto external-default/web/tcp/80"
