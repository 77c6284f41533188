"""Large lists are sent in pieces, with the bytes of a list that is made whole."""

import gzip

import pytest

from sampan.server.request import Response
from sampan.server.verbs.representations.bodies import JOINED_BYTES_MAX
from sampan.server.verbs.representations.pieces import PIECE_BYTES
from tests.server.cluster import served
from tests.server.verbs.objects import CONFIG_MAPS

SIZE_BYTES = 300_000
COUNT = JOINED_BYTES_MAX // SIZE_BYTES + 2
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
PARTIAL = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


async def parts_of(response: Response) -> list[bytes]:
    if response.stream is None:
        return [response.body or response.gzip_body or b"", *response.rest]
    return [part async for part in response.stream]


@pytest.mark.parametrize("accept", ["application/json", TABLE, PARTIAL], ids=["json", "table", "metadata"])
@pytest.mark.parametrize("encoding", ["", "gzip"], ids=["plain", "gzip"])
async def test_a_large_list_in_pieces_has_the_bytes_of_the_repeated_one(accept: str, encoding: str) -> None:
    async with served() as api:
        for index in range(COUNT):
            made = {"metadata": {"name": f"large-{index}"}, "data": {"a": "x" * SIZE_BYTES}}
            await api.create(CONFIG_MAPS, made)
        target = f"{CONFIG_MAPS}?includeObject=Object"
        first = await api.client.get(target, accept=accept, accept_encoding=encoding)
        assert first.stream is not None
        assert first.finite
        pieces = await parts_of(first)
        second = await api.client.get(target, accept=accept, accept_encoding=encoding)
        assert second.stream is None
        whole = b"".join(await parts_of(second))
    assert max(map(len, pieces)) < PIECE_BYTES + 2 * SIZE_BYTES
    if encoding and accept != PARTIAL:
        assert gzip.decompress(b"".join(pieces)) == gzip.decompress(whole)
    elif not encoding:
        assert b"".join(pieces) == whole
