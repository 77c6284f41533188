"""API priority and fairness: which requests run now, which wait, and which are refused.

A FlowSchema says to which priority level a request belongs; a level has seats, and queues that are served fairly.
Source: apiserver pkg/util/flowcontrol (1.36).
"""
