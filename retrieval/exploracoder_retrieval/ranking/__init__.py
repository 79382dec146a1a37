"""Which APIs answer a query: by its words, by its meaning, and by what the library itself uses.

Nothing here asks a model. What tells a good API from a bad one is a row of features
(`candidates.FEATURES`), joined by weights that were learned (``data/weights.json``).
"""
