"""Sidecars of a storage driver, built in: they create, attach, resize and copy volumes by its controller socket."""
