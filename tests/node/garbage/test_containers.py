"""Decisions of container garbage collection."""

from sampan.node.garbage.containers import ContainerInStore, SandboxInStore, dead_containers, dead_sandboxes


def container(id: str, created_at: int, *, name: str = "main", uid: str = "u", ended: bool = True) -> ContainerInStore:
    return ContainerInStore(id, uid, name, "s", created_at, ended)


def never(uid: str) -> bool:
    return False


def test_newest_dead_container_of_each_name_is_kept() -> None:
    found = [container("a", 1), container("c", 3), container("b", 2), container("d", 1, name="init")]
    assert [each.id for each in dead_containers(found, never)] == ["b", "a"]


def test_running_container_is_kept_next_to_the_newest_dead_one() -> None:
    found = [container("a", 1), container("b", 2), container("c", 3, ended=False)]
    assert [each.id for each in dead_containers(found, never)] == ["a"]


def test_pod_that_has_ended_keeps_no_container() -> None:
    found = [container("a", 1), container("b", 1, uid="other")]
    assert [each.id for each in dead_containers(found, lambda uid: uid == "u")] == ["a"]


def test_sandbox_goes_if_it_is_empty_dead_and_not_the_newest() -> None:
    sandboxes = [
        SandboxInStore("oldest", "u", 1, False),
        SandboxInStore("s", "u", 2, False),
        SandboxInStore("ready", "u", 3, True),
        SandboxInStore("newest", "u", 4, False),
    ]
    assert [each.id for each in dead_sandboxes(sandboxes, [container("a", 1)], never)] == ["oldest"]


def test_pod_that_has_ended_keeps_no_empty_sandbox() -> None:
    sandbox = SandboxInStore("newest", "u", 1, False)
    assert dead_sandboxes([sandbox], [], lambda uid: True) == [sandbox]
