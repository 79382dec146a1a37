"""What other programs' agents may use of ours, by the Model Context Protocol.

Only ``tools`` and ``server`` need the protocol's package, which comes with ``exploracoder[mcp]``.
"""
