"""Post-start hooks: steps and loops of a started server that maintain the objects which the server owns.

Read `bootstrap.py` first: the objects of a new cluster. The other files keep one kind of object each, for example the
Service `kubernetes` and the claims of cluster IPs. `names.py` has kube-apiserver's names of the hooks, which health
checks show.
"""
