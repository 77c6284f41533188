"""Standard streams of a process: both ends in `stdio.py`, the agent's ends in `pipes.py`, a client's view in
`output.py`.
"""
