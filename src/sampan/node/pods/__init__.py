"""Life of a Pod on its node.

Read `agent.py` first: it starts one worker for each Pod. `worker.py` carries out the steps that `plan.py` computes, and
`status.py` reports the result. Images, resizing and a forced end are parts of the same life.
"""
