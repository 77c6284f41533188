"""Order of evictions, and their text."""

from sampan.node.eviction.pressure import SignalValue
from sampan.node.eviction.ranking import ContainerUse, DiskUse, PodUse, eviction_text, ranked
from sampan.node.eviction.thresholds import Threshold

MIB = 2**20


def pod(uid: str, memory: int = 0, *, request: int = 0, priority: int = 0, disk: int = 0, log: int = 0) -> PodUse:
    container = ContainerUse("main", memory, DiskUse(disk, disk), DiskUse(log, log))
    return PodUse(uid, priority, {"memory": request}, [container])


def order(signal: str, *pods: PodUse, has_image_disk: bool = False) -> str:
    return "".join(each.uid for each in ranked(pods, signal, has_image_disk=has_image_disk))


def test_pod_above_its_request_goes_before_one_of_lower_priority() -> None:
    assert order("memory.available", pod("b", 5, request=10), pod("a", 15, request=10, priority=100)) == "ab"


def test_lower_priority_goes_first_among_pods_above_their_request() -> None:
    assert order("memory.available", pod("b", 90, priority=1), pod("a", 20)) == "ab"


def test_pod_furthest_above_its_request_goes_first() -> None:
    assert order("memory.available", pod("b", 50, request=40), pod("a", 30, request=10)) == "ab"


def test_pod_without_figures_goes_first() -> None:
    assert order("memory.available", pod("b", 50), PodUse("a", is_measured=False)) == "ab"


def test_full_disk_counts_layers_logs_and_volumes() -> None:
    volume = PodUse("a", volumes={"data": DiskUse(30, 1)})
    assert order("nodefs.available", pod("b", disk=10, log=15), volume) == "ab"
    assert order("nodefs.inodesFree", volume, pod("b", disk=10, log=15)) == "ba"


def test_own_disk_of_images_has_only_the_layers() -> None:
    pods = pod("a", disk=10, log=1), pod("b", disk=5, log=50)
    assert order("imagefs.available", *pods, has_image_disk=True) == "ab"
    assert order("nodefs.available", *pods, has_image_disk=True) == "ba"


def test_process_ids_do_not_count_requests() -> None:
    assert order("pid.available", PodUse("b", processes=5), PodUse("a", processes=9)) == "ab"


def test_text_names_threshold_and_containers_above_their_request() -> None:
    containers = [ContainerUse("c", 1024 * MIB), ContainerUse("small", MIB, requests={"memory": "2Mi"})]
    signals = {"memory.available": SignalValue(20 * MIB, 10**10)}
    found = eviction_text(PodUse("a", containers=containers), Threshold("memory.available", 100 * MIB), signals)
    assert found.message == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. "
        "Container c was using 1Gi, request is 0, has larger consumption of memory. "
    )
    assert found.annotations == {
        "offending_containers": "c",
        "offending_containers_usage": "1Gi",
        "starved_resource": "memory",
    }


def test_text_for_process_ids_names_no_container() -> None:
    signals = {"pid.available": SignalValue(10, 1000)}
    found = eviction_text(pod("a", 10), Threshold("pid.available", percent=5.0), signals)
    assert found.message == "The node was low on resource: pids. Threshold quantity: 50, available: 10. "
