"""Validation of CustomResourceDefinitions, with the messages of kube-apiserver.

Read `validation.py` first, then `versions.py` and `schemas.py`. `strictness.py` permits what was valid when it was
stored. Each of the other files validates one part of a CRD.
"""
