"""The verb connect: logs, exec, attach, port-forward and proxies, which a kubelet, a Pod or a Service serves.

Read `subresources.py` first: the table of these subresources. `options.py` has the options, admission and authorization
that they share. Bytes are forwarded by `server/proxy/`.
"""
