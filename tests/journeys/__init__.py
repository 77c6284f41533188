"""Stories of users, each a page of commands and their output: README.md is the guide to write one."""
