"""halyardry: bars, hangs, cue sheets, watches and inspection tags of a fly floor."""

from .crew import Rigger, Rota, Watch
from .cues import Cue, Deal, Flysheet, Plot, Snag
from .errors import BadWord, NotRigged, RigError
from .house import Bar, Hang, House, Pick
from .shows import Show, load_show, show_names
from .tags import Tag, Tagbook

__all__ = [
    "BadWord", "Bar", "Cue", "Deal", "Flysheet", "Hang", "House", "NotRigged", "Pick", "Plot", "RigError", "Rigger",
    "Rota", "Show", "Snag", "Tag", "Tagbook", "Watch", "load_show", "show_names",
]
