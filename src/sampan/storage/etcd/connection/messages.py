"""Messages and methods of etcd's API that the store uses.

Source: etcd api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto (3.5).
"""

from typing import Any

from sampan.rpc.proto_table import Method, message_classes

_CLASSES = message_classes(
    "sampan.etcd",
    """
ResponseHeader: uint64 cluster_id=1, uint64 member_id=2, int64 revision=3
KeyValue: bytes key=1, int64 create_revision=2, int64 mod_revision=3, int64 version=4, bytes value=5
Event: int32 type=1, KeyValue kv=2, KeyValue prev_kv=3

RangeRequest: bytes key=1, bytes range_end=2, int64 limit=3, int64 revision=4, bool keys_only=8, bool count_only=9
RangeResponse: ResponseHeader header=1, *KeyValue kvs=2, bool more=3, int64 count=4
PutRequest: bytes key=1, bytes value=2, int64 lease=3, bool prev_kv=4
PutResponse: ResponseHeader header=1, KeyValue prev_kv=2
DeleteRangeRequest: bytes key=1, bytes range_end=2, bool prev_kv=3
DeleteRangeResponse: ResponseHeader header=1, int64 deleted=2, *KeyValue prev_kvs=3
Compare: int32 result=1, int32 target=2, bytes key=3, int64 version=4, int64 mod_revision=6
RequestOp: RangeRequest request_range=1, PutRequest request_put=2, DeleteRangeRequest request_delete_range=3
ResponseOp: RangeResponse response_range=1, PutResponse response_put=2, DeleteRangeResponse response_delete_range=3
TxnRequest: *Compare compare=1, *RequestOp success=2, *RequestOp failure=3
TxnResponse: ResponseHeader header=1, bool succeeded=2, *ResponseOp responses=3
CompactionRequest: int64 revision=1
CompactionResponse: ResponseHeader header=1

WatchCreateRequest: bytes key=1, bytes range_end=2, int64 start_revision=3, bool prev_kv=6, int64 watch_id=7, \
bool fragment=8
WatchProgressRequest:
WatchRequest: WatchCreateRequest create_request=1, WatchProgressRequest progress_request=3
WatchResponse: ResponseHeader header=1, int64 watch_id=2, bool created=3, bool canceled=4, int64 compact_revision=5, \
string cancel_reason=6, bool fragment=7, *Event events=11

LeaseGrantRequest: int64 TTL=1, int64 ID=2
LeaseGrantResponse: ResponseHeader header=1, int64 ID=2, int64 TTL=3
StatusRequest:
StatusResponse: ResponseHeader header=1, string version=2, int64 dbSize=3, uint64 leader=4
""",
)

DELETE = 1
"""`Event.type` of a deletion (0: a put)."""
TARGET_VERSION = 0
TARGET_MOD = 2
"""`Compare.target`. `Compare.result` 0, the default, means equal."""

Compare: Any = _CLASSES["Compare"]
CompactionRequest: Any = _CLASSES["CompactionRequest"]
DeleteRangeRequest: Any = _CLASSES["DeleteRangeRequest"]
LeaseGrantRequest: Any = _CLASSES["LeaseGrantRequest"]
PutRequest: Any = _CLASSES["PutRequest"]
RangeRequest: Any = _CLASSES["RangeRequest"]
RequestOp: Any = _CLASSES["RequestOp"]
StatusRequest: Any = _CLASSES["StatusRequest"]
TxnRequest: Any = _CLASSES["TxnRequest"]
WatchRequest: Any = _CLASSES["WatchRequest"]


def _method(path: str, request: str, response: str) -> Method:
    return Method(path, _CLASSES[request], _CLASSES[response])


RANGE = _method("/etcdserverpb.KV/Range", "RangeRequest", "RangeResponse")
PUT = _method("/etcdserverpb.KV/Put", "PutRequest", "PutResponse")
DELETE_RANGE = _method("/etcdserverpb.KV/DeleteRange", "DeleteRangeRequest", "DeleteRangeResponse")
TXN = _method("/etcdserverpb.KV/Txn", "TxnRequest", "TxnResponse")
COMPACT = _method("/etcdserverpb.KV/Compact", "CompactionRequest", "CompactionResponse")
WATCH = _method("/etcdserverpb.Watch/Watch", "WatchRequest", "WatchResponse")
LEASE_GRANT = _method("/etcdserverpb.Lease/LeaseGrant", "LeaseGrantRequest", "LeaseGrantResponse")
STATUS = _method("/etcdserverpb.Maintenance/Status", "StatusRequest", "StatusResponse")
