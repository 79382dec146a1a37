"""Which APIs answer a query: fields of words, nearness of meaning, and what the library itself uses.

Nothing here asks a model. What tells a good API from a bad one is a row of features
(`features.FEATURES`), joined by weights that were learned on other libraries (``data/weights.json``).
"""
