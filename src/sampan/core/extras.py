"""Packages of extras: optional dependencies, imported by name when a feature needs them.

store = import_extra("sampan.storage.etcd.store", extra="etcd", feature="--storage etcd")
"""

from importlib import import_module
from importlib.util import find_spec
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
        raise _missing(error.name, extra, feature) from None


def require_extra(package: str, *, extra: str, feature: str) -> None:
    """Check that a third-party package of an extra is installed, without importing it. Raises `MissingExtra`."""
    try:
        is_installed = find_spec(package) is not None
    except ModuleNotFoundError:
        is_installed = False
    if not is_installed:
        raise _missing(package, extra, feature)


def _missing(package: str, extra: str, feature: str) -> MissingExtra:
    text = f"{feature} needs the package {package}, which is not installed: pip install 'sampan[{extra}]'"
    return MissingExtra(text, name=package)
