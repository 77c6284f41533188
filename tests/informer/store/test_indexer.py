"""`Indexer` and `Lister`: reading by key, index, namespace and labels."""

import asyncio
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.informer import NAMESPACE_INDEX, Indexer, IndexFailed, Lister, Ref, join_key, split_key
from sampan.resource import Object
from sampan.testing.time.virtual_time import virtual_time
from tests.informer.refs import ref


def by_first_letters(obj: Ref[Object]) -> Iterable[str]:
    """An index of many values."""
    return {obj.name[:1], obj.name[:2]}


def names(refs: Iterable[Ref[Object]]) -> list[str]:
    return sorted(obj.name for obj in refs)


def test_an_index_may_give_many_values() -> None:
    store: Indexer[Object] = Indexer({"letters": by_first_letters})
    for name in ("ab", "ac", "b"):
        store.add(ref(name))
    assert names(store.by_index("letters", "a")) == ["ab", "ac"]
    assert names(store.by_index("letters", "ac")) == ["ac"]
    assert store.by_index("letters", "x") == []
    assert sorted(store.index_values("letters")) == ["a", "ab", "ac", "b"]
    assert store.index_keys("letters", "b") == ["ns/b"]


def test_an_unknown_index_is_an_error() -> None:
    with pytest.raises(KeyError):
        Indexer[Object]().by_index("letters", "a")


def test_an_index_can_be_added_when_there_are_objects() -> None:
    store: Indexer[Object] = Indexer()
    store.add(ref("ab"))
    store.add_indexer("letters", by_first_letters)
    assert names(store.by_index("letters", "a")) == ["ab"]
    with pytest.raises(ValueError, match="letters"):
        store.add_indexer("letters", by_first_letters)


def test_every_store_has_an_index_by_namespace_without_those_that_are_in_none() -> None:
    store: Indexer[Object] = Indexer()
    store.add(ref("a", namespace="one"))
    store.add(ref("b", namespace=""))
    assert names(store.by_index(NAMESPACE_INDEX, "one")) == ["a"]
    assert store.index_values(NAMESPACE_INDEX) == ["one"]


def test_an_index_function_that_raises_leaves_the_object_in_the_store(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Ref[Object]) -> Iterable[str]:
        raise LookupError("oh")

    store: Indexer[Object] = Indexer({"bad": fail})
    store.add(ref("a"))
    assert store.keys() == ["ns/a"]
    assert "LookupError: oh" in caplog.text
    # An answer without the object would be wrong: the caller has to try again.
    for read in (lambda: store.index_values("bad"), lambda: store.by_index("bad", "x")):
        with pytest.raises(IndexFailed, match="index bad lacks ns/a: LookupError: oh"):
            read()
    assert [(each.index, each.ref.key, each.tries) for each in store.unindexed] == [("bad", "ns/a", 3)]


def test_a_lookup_tries_the_index_function_again() -> None:
    broken = True

    def by_name(each: Ref[Object]) -> Iterable[str]:
        if broken:
            raise LookupError("oh")
        return (each.name,)

    store: Indexer[Object] = Indexer({"name": by_name})
    store.add(ref("a"))
    broken = False
    assert store.index_keys("name", "a") == ["ns/a"]
    assert store.unindexed == []


def test_an_object_leaves_an_index_whose_function_raises_for_it_later() -> None:
    broken = False

    def by_name(each: Ref[Object]) -> Iterable[str]:
        if broken:
            raise LookupError("oh")
        return (each.name,)

    store: Indexer[Object] = Indexer({"name": by_name})
    store.add(ref("a"))
    broken = True
    store.remove("ns/a")
    assert (store.by_index("name", "a"), store.unindexed) == ([], [])


operations = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "replace"]), st.sampled_from("abc"), st.sampled_from("xyz")),
    max_size=30,
)


@given(operations)
def test_indexes_always_report_what_a_look_at_all_objects_would(steps: list[tuple[str, str, str]]) -> None:
    def by_label(obj: Ref[Object]) -> Iterable[str]:
        return (obj.labels["l"],)

    store: Indexer[Object] = Indexer({"l": by_label})
    for step, name, label in steps:
        obj = ref(name, labels={"l": label})
        if step == "put":
            store.put(obj)
        elif step == "remove":
            store.remove(obj.key)
        else:
            store.replace([obj], "9")
        for value in "xyz":
            assert names(store.by_index("l", value)) == names(o for o in store.refs() if o.labels["l"] == value)
        assert set(store.index_values("l")) == {o.labels["l"] for o in store.refs()}
        assert names(store.by_index(NAMESPACE_INDEX, "ns")) == names(store.refs())


def filled() -> Lister[Object]:
    store: Indexer[Object] = Indexer({"letters": by_first_letters})
    store.add(ref("a", namespace="one", labels={"app": "web"}))
    store.add(ref("b", namespace="one", labels={"app": "db"}))
    store.add(ref("c", namespace="two", labels={"app": "web"}))
    return Lister(store)


def test_a_lister_reads_by_key_labels_namespace_and_index() -> None:
    lister = filled()
    found = lister.get("one/a")
    assert found is not None
    assert found["metadata"]["name"] == "a"
    assert lister.get("one/x") is None
    assert len(lister.list()) == 3
    assert names(lister.refs("app=web")) == ["a", "c"]
    assert [obj["metadata"]["name"] for obj in lister.namespaced("one").list("app=web")] == ["a"]
    assert [obj["metadata"]["name"] for obj in lister.namespaced("three").list()] == []
    assert lister.namespaced("two").get("c") == lister.get("two/c")
    assert lister.namespaced("two").get("a") is None
    assert [obj["metadata"]["name"] for obj in lister.by_index("letters", "b")] == ["b"]


def test_a_selector_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError):
        filled().list("app=(")


@pytest.mark.parametrize(("namespace", "name", "key"), [("ns", "a", "ns/a"), ("", "a", "a")])
def test_keys_are_namespace_and_name(namespace: str, name: str, key: str) -> None:
    assert join_key(namespace, name) == key
    assert split_key(key) == (namespace, name)


def test_an_invalid_key_is_refused() -> None:
    with pytest.raises(ValueError, match="unexpected key format"):
        split_key("a/b/c")


@virtual_time
async def test_a_wait_for_objects_ends_with_the_first_one() -> None:
    store: Indexer[Object] = Indexer()
    waiting = asyncio.create_task(store.has_objects())
    await asyncio.sleep(1)
    assert not waiting.done()
    store.add(ref("a"))
    await waiting


@virtual_time
async def test_a_store_whose_objects_are_gone_waits_again() -> None:
    store: Indexer[Object] = Indexer()
    store.add(ref("a"))
    store.remove(ref("a").key)
    waiting = asyncio.create_task(store.has_objects())
    await asyncio.sleep(1)
    assert not waiting.done()
    store.replace([ref("b")], "2")
    await waiting
