"""Leaves and how they are read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Leaf:
    """A kind of tea leaf; its strength goes from 1 to 9."""

    name: str
    strength: int


def read_leaves(text):
    """Read leaves from text such as ``assam 5; sencha 2``."""
    pairs = [part.split() for part in text.split(";") if part.strip()]
    return [Leaf(name, int(strength)) for name, strength in pairs]


def strongest(leaves):
    """The leaf with the greatest strength."""
    return max(leaves, key=lambda leaf: leaf.strength)


def blend(leaves, name="blend"):
    """Mix leaves into one whose strength is their mean."""
    strengths = [leaf.strength for leaf in leaves]
    return Leaf(name, round(sum(strengths) / len(strengths)))
