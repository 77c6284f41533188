"""Which requests a webhook or a policy is for, and the forms of objects that it is given."""
