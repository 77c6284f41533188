"""Simulated containers: records without processes, controlled by annotations of the Pod."""
