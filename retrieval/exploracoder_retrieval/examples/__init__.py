"""Examples of a library that its own documentation does not have: of people's code, of what solved
a task. They are kept beside the index, found for a task, and count as use of the APIs in them.
"""
