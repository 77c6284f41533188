"""Runs the operator: python -m shops --help."""

from sampan.operator import main

from shops.app import set_up

if __name__ == "__main__":
    main(set_up, name="shops")
