"""API priority and fairness: requests run at once, wait in a queue, or are refused.

A FlowSchema assigns a request to a priority level. A level has seats for running requests, and queues that are served
fairly.
Source: apiserver pkg/util/flowcontrol (1.36).
"""
