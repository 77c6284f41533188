"""Runs the operator: python -m ledgers --help."""

from sampan.operator import main

from ledgers.app import set_up

if __name__ == "__main__":
    main(set_up, name="ledgers")
