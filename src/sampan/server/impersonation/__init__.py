"""Acting as somebody else: what the headers ask for, and in which modes it is allowed."""
