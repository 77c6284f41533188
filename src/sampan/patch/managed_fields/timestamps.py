"""Ignore writes that change only the timestamps in managedFields.

Source: apiserver pkg/endpoints/handlers/fieldmanager/equality.go (1.36).
"""

from sampan.core.json.values import same
from sampan.core.object import Object


def keep_timestamps(live: Object, new: Object) -> None:
    """Copy the timestamps of `live` to `new` if nothing else differs, so that the write becomes a no-op.

    Both have the same version. Changes only managedFields of `new`.
    """
    before = live["metadata"].get("managedFields")
    after = new["metadata"].get("managedFields")
    if not before or not after or len(before) != len(after) or same(before, after):
        return
    for old, entry in zip(before, after, strict=True):
        if old.get("time") != entry.get("time") and not same({**old, "time": ""}, {**entry, "time": ""}):
            return
        if old.get("time") == entry.get("time") and not same(old, entry):
            return
    if _same_but_managed_fields(live, new):
        new["metadata"]["managedFields"] = before


def _same_but_managed_fields(live: Object, new: Object) -> bool:
    if live.keys() != new.keys():
        return False
    for name, value in live.items():
        if name != "metadata":
            if not same(value, new[name]):
                return False
            continue
        metadata = new[name]
        if value.keys() != metadata.keys():
            return False
        if any(not same(item, metadata[key]) for key, item in value.items() if key != "managedFields"):
            return False
    return True
