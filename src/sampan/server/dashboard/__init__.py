"""The dashboard: a web page at /dashboard/, and the sessions of the browsers that use it.

    dashboard = Dashboard(DashboardSettings(), authenticators, certified=lambda: {"localhost", "127.0.0.1"})
    link = f"https://127.0.0.1:6443/dashboard/login#{dashboard.links.create(user)}"

`dashboard.py` has the filter and the list of paths. Threats and what holds against them: docs/dashboard.md.
"""
