"""Bugs of real operators as small reconcilers, each with its repair. See the survey of Sieve's findings (OSDI 2022)."""
