"""Settings of the admission plug-ins, from those of a server.

Source: apiserver pkg/admission/config.go; kubernetes pkg/kubeapiserver/options/admission.go (1.36).
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings
from sampan.core.object import Object
from sampan.server.admission.configuration import ADMISSION
from sampan.server.admission.order import NAMES
from sampan.server.admission.settings import NODE_RESTRICTION, SERVICE_ACCOUNT, AdmissionSettings, check_names
from sampan.wire import yaml

_ACCOUNTS: Final = "serviceaccount-controller"
_UNVERSIONED: Final = {"ImagePolicyWebhook": "imagePolicy", "PodNodeSelector": "podNodeSelectorPluginConfig"}


def admission_settings(settings: UpSettings) -> AdmissionSettings:
    """Return kubeadm's plug-ins, which include NodeRestriction.

    ServiceAccount is on if a controller creates the accounts.

    Raises `StartError` for unknown names and unreadable files.
    """
    enabled = frozenset(settings.enable_admission_plugins)
    disabled = frozenset(settings.disable_admission_plugins)
    try:
        check_names(enabled, disabled, NAMES)
    except ValueError as error:
        raise StartError(str(error)) from None
    added = {NODE_RESTRICTION}
    if _makes_accounts(settings.controllers):
        added.add(SERVICE_ACCOUNT)
    file = settings.admission_control_config_file
    chosen = AdmissionSettings(enabled | added, disabled)
    return chosen if file is None else replace(chosen, configurations=_configurations(file, chosen))


def _makes_accounts(controllers: str) -> bool:
    """Return True if the control loops create service accounts. Reads the list as `chosen_controllers` does."""
    words = {word.strip() for word in controllers.split(",")}
    return bool(words & {"*", _ACCOUNTS}) and f"-{_ACCOUNTS}" not in words


def _configurations(file: Path, chosen: AdmissionSettings) -> dict[str, Object]:
    """Return the configuration of each plug-in from an AdmissionConfiguration, inline or in a file. The first one wins.

    A file may also contain the configuration of ImagePolicyWebhook or PodNodeSelector directly. It then applies to both
    plug-ins.
    """
    content, duplicates = _read(file)
    if "kind" not in content and any(field in content for field in _UNVERSIONED.values()):
        return dict.fromkeys(_UNVERSIONED, content)
    try:
        content = ADMISSION.read(content, duplicates)
    except ValueError as error:
        raise StartError(f"cannot read {file}: {error}") from None
    configurations: dict[str, Object] = {}
    for plugin in content.get("plugins") or ():
        name, path, configuration = plugin.get("name", ""), plugin.get("path"), plugin.get("configuration")
        if configuration is None and path and name in NAMES and chosen.is_on(name):
            configuration, _ = _read(file.parent / path)
        if configuration is not None:
            configurations.setdefault(name, configuration)
    return configurations


def _read(file: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the content of a file, and an error text for each duplicate field."""
    try:
        value, duplicates = yaml.decode_file_strict(file.read_bytes())
    except OSError as error:
        raise StartError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise StartError(f"cannot read {file}: {error}") from error
    if not isinstance(value, dict):
        raise StartError(f"{file} contains no object")
    return value, duplicates
