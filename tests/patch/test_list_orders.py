"""Order of merged lists when one patch deletes items and adds others, against results of Go's strategicpatch (0.36).

A line of the file has the server's items, the items of the patch (`-` deletes), those of `$setElementOrder`, and the
result.
"""

from pathlib import Path

import pytest

from sampan.patch import strategic_merge
from sampan.schema.structural import Schema

LINES = (Path(__file__).parent / "list_orders.txt").read_text().splitlines()
ITEM = Schema(type="object", name="x.Item", properties={"name": Schema(type="string")})
ITEMS = Schema(type="array", items=ITEM, patch_strategy=("merge",), patch_merge_key="name")
OBJECT = Schema(type="object", name="x.Object", properties={"items": ITEMS})


def named(text: str) -> list[dict[str, str]]:
    return [{"name": name} for name in text.split()]


@pytest.mark.parametrize("part", range(4))
def test_merged_lists_have_the_order_of_go(part: int) -> None:
    for line in LINES[part::4]:
        server, patch, order, expected = (text.strip() for text in line.split("|"))
        items = [{"name": each[1:], **({"$patch": "delete"} if each[0] == "-" else {})} for each in patch.split()]
        body = {"items": items, "$setElementOrder/items": named(order)}
        found = strategic_merge.apply({"items": named(server)}, body, OBJECT)
        assert found["items"] == named(expected), line
