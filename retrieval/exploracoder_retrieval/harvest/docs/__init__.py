"""Documentation beside a library, or in place of one: pages, inventories, lists of APIs.

A reader turns one file into pieces (`pieces.py`): APIs that it defines, and passages about APIs.
`collect.py` finds the files of a source and calls the readers; `fetch.py` is the only place that
uses the network. Nothing that is read is run, and fetched files are stored unchanged.
"""
