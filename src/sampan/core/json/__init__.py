"""JSON values: comparison, paths, and values that are nested too deeply for recursive code.

Read `values.py` first; `path.py` is Kubernetes' JSONPath. `deep_decode.py` and `deep_cut.py` make the leaves of
`core/deep_json.py`.
"""
