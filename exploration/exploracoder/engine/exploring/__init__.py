"""One step at a time: docs, candidates in parallel, repairs, going back."""
