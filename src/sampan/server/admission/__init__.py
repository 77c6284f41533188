"""Admission plug-ins: they change (mutate) or refuse (validate) writes between authorization and storage."""
