"""Built-in sidecars of a storage driver.

They create, attach, resize and snapshot volumes through its controller socket.
"""
