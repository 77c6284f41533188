"""Creation and deletion of volumes.

Read `provisioner.py` first: it makes a `Plan`, calls the driver, and creates the PersistentVolume. `capacity.py`
publishes free storage, and `reclaimer.py` deletes released volumes.
"""
