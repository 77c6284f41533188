"""The etcd engine: a store that several servers share.

A write is acknowledged when a majority of members has it on disk.
"""

from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.store import EtcdStore

__all__ = ["EtcdSettings", "EtcdStore"]
