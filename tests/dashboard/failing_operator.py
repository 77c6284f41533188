"""An operator that a test starts: it fails for ConfigMaps called `broken`, and copies the data of the others.

A reconcile of the ConfigMap `slow` lasts until a ConfigMap `go` exists.
"""

from sampan.client import MergePatch, wait_for
from sampan.operator import Builder, Manager, Request, RetryLater, label_selector, main
from tests.operator.cluster import CONFIG_MAPS


def set_up(manager: Manager) -> None:
    boxes = manager.client.resource(CONFIG_MAPS, namespace="")

    async def reconcile(request: Request) -> None:
        if request.name == "broken":
            raise RetryLater("the harbour is closed", after_s=2)
        if request.name == "slow":
            direct = manager.client.direct.resource(CONFIG_MAPS, namespace=request.namespace)
            await wait_for(direct, "go", lambda found: found is not None, timeout_s=120)
        await boxes.in_namespace(request.namespace).patch(request.name, MergePatch({"data": {"copied": "yes"}}))

    Builder(manager).for_(CONFIG_MAPS, predicates=[label_selector("copy")]).named("boxes").complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boxes")
