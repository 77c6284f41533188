"""Rules of nftables as text: `base.py` has the part without Services, `port.py` the part of one port of a Service."""
