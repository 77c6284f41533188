"""An operator that a test starts: it fails for ConfigMaps called `broken`, and copies the data of the others."""

from sampan.client import MergePatch
from sampan.operator import Builder, Manager, Request, RetryLater, label_selector, main
from tests.operator.cluster import CONFIG_MAPS


def set_up(manager: Manager) -> None:
    boxes = manager.client.resource(CONFIG_MAPS, namespace="")

    async def reconcile(request: Request) -> None:
        if request.name == "broken":
            raise RetryLater("the harbour is closed", after_s=2)
        await boxes.in_namespace(request.namespace).patch(request.name, MergePatch({"data": {"copied": "yes"}}))

    Builder(manager).for_(CONFIG_MAPS, predicates=[label_selector("copy")]).named("boxes").complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boxes")
