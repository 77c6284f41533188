"""Connections to etcd: endpoints, calls, streams and their faults.

Read `client.py` first. `availability.py` stops calls while etcd is away; `diagnosis.py` explains the reason to the
administrator.
"""
