"""The branch process: the code that runs inside the user's interpreter, which has nothing of ours.

Standard library, and IPython where it is there; Python 3.9 and newer. ``process.py`` is the entry.
"""
