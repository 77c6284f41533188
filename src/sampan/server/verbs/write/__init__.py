"""Parts of a request that writes: its body and options, admission and authorization.

Read `write.py` first: the verbs make a `Write` with it, which `registry/write/` runs. `admit.py` and
`authorize_create.py` are the checks of its `Gate`.
"""
