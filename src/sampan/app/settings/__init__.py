"""Settings of `sampan up`: one dataclass for each subject. `up.py` is the whole; options and files are made from it."""
