"""The speed of the toolkit: informers, and the operators and control loops that use them.

Most measurements run in this process alone. Those with a server run the server in a separate process.
"""
