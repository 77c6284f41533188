"""Metrics of the API server: `/metrics`, `/metrics/slis` and what they count.

Read `server.py` first: `ServerMetrics` counts requests and renders the page. Each other file has the families of one
subject, for example `watches.py` or `encryption.py`. The labels of a request are in `request_labels.py`. The types of
the metrics are in `server/instruments/`, because authentication and authorization have metrics as well.
"""
