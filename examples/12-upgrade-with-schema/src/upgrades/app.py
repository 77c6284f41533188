"""The operator: the controllers of all kinds."""

from sampan.operator import Manager, add_parts

import upgrades


def set_up(manager: Manager) -> None:
    """Call `set_up` of each module in the folders of this package."""
    add_parts(manager, upgrades)
