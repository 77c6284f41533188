"""Sidecars of a storage driver, built in: they provision, attach and resize volumes through its controller socket."""
