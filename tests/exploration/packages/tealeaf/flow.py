"""Lazy pipelines of leaves."""


class Flow:
    """A lazy pipeline: nothing happens until it is iterated over."""

    def __init__(self, source):
        self._source = source

    def keep(self, wanted):
        """Keep the items for which ``wanted`` is true."""
        return Flow(item for item in self._source if wanted(item))

    def each(self, function):
        """Apply a function to every item."""
        return Flow(function(item) for item in self._source)

    def __iter__(self):
        return iter(self._source)
