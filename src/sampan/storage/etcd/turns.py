"""`CompactionTurns`: of the servers on one etcd, one compacts in each interval.

They agree by the version of one key, outside every prefix, that kube-apiserver uses for the same: whoever replaces the
version that it has seen may compact. Source: apiserver storage/etcd3/compact.go (1.36).
"""

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.messages import Compare, PutRequest, RangeRequest, RequestOp, TxnRequest

COMPACT_REV_KEY = b"compact_rev_key"


class CompactionTurns:
    """The turns of one server. The first one is nobody's: then only the key's version is learnt."""

    def __init__(self, client: EtcdClient) -> None:
        self._client = client
        self._version = 0

    async def take(self, revision: int) -> bool:
        """Whether this server is to compact to the revision now. Raises `StoreUnavailable`."""
        request = TxnRequest(
            compare=[Compare(target=messages.TARGET_VERSION, key=COMPACT_REV_KEY, version=self._version)],
            success=[RequestOp(request_put=PutRequest(key=COMPACT_REV_KEY, value=b"%d" % revision))],
            failure=[RequestOp(request_range=RangeRequest(key=COMPACT_REV_KEY))],
        )
        answer = await self._client.ask(messages.TXN, request)
        if answer.succeeded:
            self._version += 1
            return True
        rows = answer.responses[0].response_range.kvs
        self._version = rows[0].version if rows else 0
        return False
