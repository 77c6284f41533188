"""Admission plug-ins: they change (mutate) or refuse (validate) writes between authorization and storage.

Read `chain.py` first: the interface of a plug-in and the run of the chain. `order.py` lists the plug-ins in the order
of their calls; `plugins/` has one file for each. Webhooks and CEL policies share `matching/` and `expressions/`.
"""
