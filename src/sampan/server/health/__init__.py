"""Health of the server: /healthz, /livez and /readyz, their checks and metrics, and the stages from start to end.

Read `health.py` first. `lifecycle.py` has the stages of a shutdown, which the checks and the filters use.
"""
