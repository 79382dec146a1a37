"""The Jupyter kernel ``exploracoder``: speaks the Jupyter protocol, relays to branches.

It runs in our interpreter and runs no code of the user's; that happens in the branches. The
sockets are served by ``jupyter_client``'s ``Session`` and ``zmq.asyncio`` in one asyncio loop
rather than by a subclass of ipykernel, whose shell channel runs one request at a time and whose
threads do not suit several branches that run at once.

Importing this package loads nothing; ``app.py`` is the entry, ``remote.py`` the client.
"""
