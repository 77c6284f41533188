"""Admission: what is let in. Plug-ins change (mutate) or refuse (validate) writes after authorization and before
storage.
"""
