"""Virtual resources for authentication and authorization: access reviews, token reviews and issued tokens.

Nothing of them is stored. `verbs/subresources.py` has their routes.
"""
