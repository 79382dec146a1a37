"""Parcels of grain, sieve trials, grists and dispatch for the mill."""
from .errors import MillError, ShortError, WordError
from .parcels import Loft, Parcel, keeping_days
from .sieves import Bolting, Deck, Nest, Trial
from .grists import Bill, Grist
from .dispatch import Allotment, Cartload, Docket, Rota
from .samples import Mill, load_sample, sample_names

__all__ = ["MillError", "ShortError", "WordError", "Parcel", "Loft", "keeping_days",
           "Deck", "Nest", "Trial", "Bolting", "Grist", "Bill", "Docket", "Rota",
           "Allotment", "Cartload", "Mill", "load_sample", "sample_names"]
