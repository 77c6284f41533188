"""--namespaces: the watched namespaces, and the rights that are checked in each."""

from pathlib import Path

from sampan.client.config import Config
from sampan.operator import Manager, ManagerOptions
from sampan.operator.process.start import Start, _options
from sampan.operator.settings import OperatorSettings
from tests.operator.manager.frame import manager
from tests.operator.refs import NETWORKS


def set_up(manager: Manager) -> None:
    """Add nothing."""


def test_all_namespaces_of_the_flag_are_watched() -> None:
    settings = OperatorSettings(namespaces=("a", "b"), kubeconfig=Path("x"))
    begun = Start(set_up, "boats", "", None, OperatorSettings(), ManagerOptions(namespace="other"))
    options = _options(begun, settings, Config("https://127.0.0.1:1"), None)
    assert (options.namespace, options.namespaces) == ("", ("a", "b"))


async def test_rights_are_checked_in_each_namespace() -> None:
    made = manager(ManagerOptions(namespaces=["a", "b"]))
    made.informer_for(NETWORKS)
    rights = made.rights()
    assert {(right.verb, right.namespace) for right in rights} == {
        (verb, namespace) for verb in ("list", "watch") for namespace in ("a", "b")
    }
