"""How a model is taught to search for APIs as it writes: the commands `annotate` and `train`.

Source: ToolCoder, section 3. `annotation` is its section 3.2, `training` section 3.3.
`search_calls` counts what a model has learnt.
"""
