"""``APISearch(query) → answer``: one interface over documentation search and web search.

Source: ToolCoder, section 3.1, equation 1.
"""
