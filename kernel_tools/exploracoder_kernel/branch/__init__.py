"""The branch process: code that runs in the user's interpreter, where our package isn't installed.

Standard library, and IPython if installed; Python 3.9 and newer. ``process.py`` is the entry point.
"""
