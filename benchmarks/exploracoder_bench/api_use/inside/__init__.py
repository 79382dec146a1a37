"""The code that runs in the sidecar beside a candidate: standard library only, and no answers.

The expected data flow never gets here. A candidate that subverted this code could only claim a data
flow, and would have to know the right one to do so.
"""
