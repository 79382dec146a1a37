"""Libraries in, ApiDocs out."""

from exploracoder_retrieval.harvest.reader import harvest
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo, Skipped, UsageExample

__all__ = ["Harvest", "LibraryInfo", "Skipped", "UsageExample", "harvest"]
