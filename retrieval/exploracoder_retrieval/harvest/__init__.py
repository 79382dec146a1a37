"""Libraries in, ApiDocs out."""

from exploracoder_retrieval.harvest.reader import harvest
from exploracoder_retrieval.harvest.result import Harvest, LibraryInfo, SkippedSource, UsageExample

__all__ = ["Harvest", "LibraryInfo", "SkippedSource", "UsageExample", "harvest"]
