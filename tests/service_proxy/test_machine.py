"""Errors of machines that cannot run a proxy, and the kernel's settings."""

from pathlib import Path

import pytest

from sampan.component_base.nftables.errors import NftError, NftMissing
from sampan.component_base.nftables.nft import NftProgram
from sampan.service_proxy.errors import ServiceProxyError
from sampan.service_proxy.family import IPV4, IPV6
from sampan.service_proxy.machine import prepare


class ScriptedNft:
    """Refuses commands with a word, and lists these chains."""

    def __init__(self, refused: str = "nothing", error: str = "", chains: str = "") -> None:
        self._refused, self._error, self._chains = refused, error, chains

    def run(self, commands: str) -> str:
        if self._refused in commands:
            raise NftError(self._error)
        return self._chains if commands.startswith("list") else ""


def test_a_user_without_rights_is_reported_which_are_needed(tmp_path: Path) -> None:
    nft = ScriptedNft("add table", "cache initialization failed: Operation not permitted")
    with pytest.raises(ServiceProxyError, match="as root or with the capability CAP_NET_ADMIN"):
        prepare(nft, "test", tmp_path)


def test_a_kernel_without_nftables_names_the_module(tmp_path: Path) -> None:
    with pytest.raises(ServiceProxyError, match="modprobe nf_tables"):
        prepare(ScriptedNft("add table", "Protocol not supported"), "test", tmp_path)


def test_a_missing_program_names_its_package() -> None:
    with pytest.raises(NftMissing, match="apt-get install nftables"):
        NftProgram("no-such-nft").run("list tables\n")


def test_a_kernel_without_ipv6_has_only_ipv4(tmp_path: Path) -> None:
    assert prepare(ScriptedNft(), "test", tmp_path) == [IPV4, IPV6]
    assert prepare(ScriptedNft("ip6", "Address family not supported"), "test", tmp_path) == [IPV4]


@pytest.mark.parametrize(
    ("chains", "where"),
    [
        ("table ip kube-proxy {\n\tchain services {\n\t}\n}\n", r"\(table ip kube-proxy\)"),
        ("table ip nat {\n\tchain KUBE-SERVICES {\n\t}\n}\n", r"\(chain KUBE-SERVICES\)"),
    ],
    ids=["nftables", "iptables"],
)
def test_rules_of_another_proxy_are_an_error(chains: str, where: str, tmp_path: Path) -> None:
    with pytest.raises(ServiceProxyError, match=where):
        prepare(ScriptedNft(chains=chains), "test", tmp_path)


def test_forwarding_is_switched_on(tmp_path: Path) -> None:
    setting = tmp_path / "net/ipv4/ip_forward"
    setting.parent.mkdir(parents=True)
    setting.write_text("0\n")
    prepare(ScriptedNft(), "test", tmp_path)
    assert setting.read_text() == "1"
