"""An operator that a test starts: it copies the data of ConfigMaps with the label `copy` to `copied`.

`--block` blocks the event loop in each reconcile.
"""

import time
from dataclasses import dataclass

from sampan.client import MergePatch
from sampan.core.settings import setting
from sampan.operator import Builder, Manager, Request, label_selector, main
from tests.operator.cluster import CONFIG_MAPS


@dataclass(frozen=True, slots=True)
class Settings:
    block: float = setting(0.0, "Seconds of a blocking call in each reconcile.")


def set_up(manager: Manager, settings: Settings) -> None:
    boxes = manager.client.resource(CONFIG_MAPS, namespace="")

    async def reconcile(request: Request) -> None:
        time.sleep(settings.block)  # noqa: ASYNC251  # the bug that the log names
        await boxes.in_namespace(request.namespace).patch(request.name, MergePatch({"data": {"copied": "yes"}}))

    Builder(manager).for_(CONFIG_MAPS, predicates=[label_selector("copy")]).named("boxes").complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boxes", settings=Settings())
