"""Settings that `sampan up` passes to its control loops are declared once."""

from sampan.app.loops.settings import AllLoopsSettings
from sampan.app.settings import UpSettings
from sampan.core.settings import settings_of


def declarations(root: object) -> dict[str, tuple[object, ...]]:
    """Return meaning and default of each option."""
    return {each.name: (each.help, each.default, each.default_text) for each in settings_of(root)}


def test_both_commands_have_the_same_meaning_and_default_of_a_setting() -> None:
    up, loops = declarations(UpSettings()), declarations(AllLoopsSettings())
    shared = set(up) & set(loops)
    assert {"controllers", "scheduler", "nodes", "node-runtime", "dns", "dns-address", "service-proxy"} <= shared
    assert {name: up[name] for name in shared} == {name: loops[name] for name in shared}
