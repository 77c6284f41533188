"""Settings that a command passes on, to its control loops, its server or its proxy, are declared once."""

from dataclasses import fields
from typing import Any

import pytest

from sampan.app.controller_manager.proxy_settings import ProxyRuleSettings
from sampan.app.controller_manager.settings import AllLoopsSettings
from sampan.app.settings.up import UpSettings
from sampan.core.settings import settings_of
from sampan.core.settings.declare import DECLARATION, SettingDeclaration
from sampan.server.apiserver import ApiServerSettings
from sampan.service_proxy.rules.options import RuleOptions


def declarations(root: object) -> dict[str, tuple[object, ...]]:
    """Return meaning and default of each option."""
    return {each.name: (each.help, each.default, each.default_text) for each in settings_of(root)}


def test_both_commands_have_the_same_meaning_and_default_of_a_setting() -> None:
    up, loops = declarations(UpSettings()), declarations(AllLoopsSettings())
    shared = set(up) & set(loops)
    assert {"controllers", "scheduler", "nodes", "node-runtime", "dns", "dns-address", "service-proxy"} <= shared
    assert {name: up[name] for name in shared} == {name: loops[name] for name in shared}


def meanings(part: Any) -> dict[str, tuple[str, object]]:
    """Return meaning and default of each field that has a default value. A plain field has no meaning."""
    found: dict[str, tuple[str, object]] = {}
    for each in fields(part):
        declared = each.metadata.get(DECLARATION)
        if isinstance(each.default, bool | int | float | str | tuple):
            found[each.name] = (declared.help if isinstance(declared, SettingDeclaration) else "", each.default)
    return found


@pytest.mark.parametrize(("command", "part"), [(UpSettings, ApiServerSettings), (ProxyRuleSettings, RuleOptions)])
def test_a_part_has_the_declaration_of_the_command(command: Any, part: Any) -> None:
    given, used = meanings(command), meanings(part)
    shared = set(given) & set(used)
    assert {name: used[name] for name in shared} == {name: given[name] for name in shared}
