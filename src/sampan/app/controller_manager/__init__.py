"""Processes of control loops: controllers, scheduler and nodes, alone or as the child of `sampan up`.

Read `run.py` first: one manager owns all tasks. `settings.py` has the options of the process, the other `*_settings.py`
those of one subject. The parent's side is `app/controller_manager_child.py`.
"""
