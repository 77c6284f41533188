"""The etcd engine: a store that several servers share.

A write is acknowledged when a majority of members has it on disk. The store itself is in `store.py`, which loads gRPC;
the settings load without it.
"""

from sampan.storage.etcd.settings import EtcdSettings

__all__ = ["EtcdSettings"]
