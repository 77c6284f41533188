"""The speed of the toolkit: informers and what is built on them.

Nothing but this process takes part; only the whole operator has a server, in a process of its own.
"""
