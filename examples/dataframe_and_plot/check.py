assert closed == 52, closed
assert len(boxes) == 365, len(boxes)
