"""The Model Context Protocol server, which offers our tools to other programs' agents.

Only ``tools`` and ``server`` need the protocol's package, which comes with ``exploracoder[mcp]``.
"""
