"""Types of metrics that each folder of the server may use: counters, histograms, and results of reloads.

Read `histogram.py` first. A counter or a histogram costs one dictionary look-up for each request.
`removed_resources.py` removes series when a CRD is deleted.
"""
