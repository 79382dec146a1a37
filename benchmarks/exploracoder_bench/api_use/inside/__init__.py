"""What runs in the sidecar beside a candidate: the standard library only, and no answers.

The expected data flow is never here. A candidate that got the better of this code could only
claim a data flow, and would have to know the right one to claim it.
"""
