"""Documentation that lies beside a library, or stands for one: pages, inventories, lists of APIs.

A reader turns one file into pieces (`pieces.py`): APIs that it defines, passages that speak of
APIs. `collect.py` finds the files of a source and calls the readers; `fetch.py` is the only place
that asks a network. Nothing that is read is run, and what is fetched is kept as it came.
"""
