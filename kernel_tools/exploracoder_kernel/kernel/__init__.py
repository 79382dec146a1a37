"""The Jupyter kernel ``exploracoder``: ipykernel's base class, which relays to branches.

It runs in our interpreter and runs no user code; that happens in the branches. Importing this
package loads nothing; ``kernel_app.py`` is the entry point, ``remote.py`` the client.
"""
