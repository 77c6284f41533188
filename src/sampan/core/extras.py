"""Packages of extras: optional dependencies, imported by name when a feature needs them.

store = import_extra("sampan.storage.etcd.store", extra="etcd", feature="--storage etcd")
"""

from importlib import import_module
from types import ModuleType


class MissingExtra(ImportError):
    """A feature needs a package that is not installed. The text is one line that names the extra to install."""


def import_extra(module: str, *, extra: str, feature: str) -> ModuleType:
    """Import a module of Sampan whose third-party packages belong to an extra. Raises `MissingExtra`."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "sampan":
            raise
        text = f"{feature} needs the package {error.name}, which is not installed: pip install 'sampan[{extra}]'"
        raise MissingExtra(text, name=error.name) from None
