"""`JoinError`: the reason why a machine cannot join."""


class JoinError(Exception):
    """The machine cannot join the cluster. The message has the reason and the action to take."""
