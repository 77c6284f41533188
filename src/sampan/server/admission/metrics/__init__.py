"""Metrics of admission: durations and refusals of plug-ins, webhooks and policies, and what PodSecurity decides.

Read `metrics.py` first: `AdmissionMetrics` holds the others.
"""
