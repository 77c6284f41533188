"""Facts about Pods that several parts of a cluster compute alike: placement, resources, expansion of variables.

The scheduler, the node agent, admission and the controllers use the same functions, so that their results agree.
"""
