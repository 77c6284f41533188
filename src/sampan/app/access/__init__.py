"""Users and their rights: authenticators, authorizers and admission of a server, from its settings."""
