"""Errors that callers of `nft.py` and `table.py` handle: a refused transaction, a missing program."""


class NftError(Exception):
    """The kernel or nft refused a transaction."""


class NftMissing(NftError):
    """Neither libnftables nor nft is installed."""

    def __str__(self) -> str:
        return "cannot find libnftables.so.1 or nft: install the package nftables (apt-get install nftables)"
