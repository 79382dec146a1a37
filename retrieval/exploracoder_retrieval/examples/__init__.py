"""Examples of a library beyond its own documentation: from people's code, or from solved tasks.
They are kept apart from the index, found for a task, and count as uses of the APIs in them.
"""
