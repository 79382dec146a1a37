"""ToolCoder: code with API searches in it, how a model writes it, and how one is taught to.

Source: ToolCoder, section 3. `decoding` is its algorithm 1, `annotation` section 3.2, `training`
section 3.3.
"""
