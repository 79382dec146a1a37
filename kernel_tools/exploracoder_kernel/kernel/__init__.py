"""The Jupyter kernel ``exploracoder``: ipykernel's base class, which relays to branches.

It runs in our interpreter and runs no code of the user's; that happens in the branches. Importing
this package loads nothing; ``app.py`` is the entry, ``remote.py`` the client.
"""
