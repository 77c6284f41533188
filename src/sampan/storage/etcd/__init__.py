"""The etcd engine: a store that several servers share; acknowledged means that a majority has it on disk."""

from sampan.storage.etcd.copy_target import EtcdCopyTarget
from sampan.storage.etcd.lookout import look_after_endpoints
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.store import EtcdStore

__all__ = ["EtcdCopyTarget", "EtcdSettings", "EtcdStore", "look_after_endpoints"]
