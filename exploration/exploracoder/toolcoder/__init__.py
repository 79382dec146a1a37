"""ToolCoder: code with API searches in it, and how a model writes it.

Source: ToolCoder, section 3. `decoding` is its algorithm 1.
"""
