"""Queues of one priority level: requests wait in them for a seat and are served fairly.

Read `queue_set.py` first, then `ticket.py`, the state of a request and of a queue. `dealer.py` assigns flows to queues.
`usage.py` and `demand.py` measure the seats, for metrics and for borrowing.
"""
