"""The dashboard's server: page, logins, sessions, and attacks against them."""
