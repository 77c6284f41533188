"""Symptoms of `docs/when-it-goes-wrong.md`: each is provoked, explained and cured as the page shows.

A folder has what a reader has when the symptom appears: an operator, manifests, tests, and `begin.sh`.
"""
