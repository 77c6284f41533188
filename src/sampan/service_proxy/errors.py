"""Errors of the service proxy. Errors of the machine end the proxy with a message for the administrator."""


class ServiceProxyError(Exception):
    """The machine cannot run a service proxy."""


class NftError(ServiceProxyError):
    """The kernel or nft refused a transaction."""


class NftMissing(ServiceProxyError):
    """Neither libnftables nor nft is installed."""

    def __str__(self) -> str:
        return "cannot find libnftables.so.1 or nft: install the package nftables (apt-get install nftables)"
