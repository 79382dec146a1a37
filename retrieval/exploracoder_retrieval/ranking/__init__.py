"""Which APIs answer a query: by its words, by its meaning, and by what the library itself uses.

Nothing here asks a model. An API is scored by a row of features (`candidates.FEATURES`), combined
with learned weights (``data/weights.json``).
"""
