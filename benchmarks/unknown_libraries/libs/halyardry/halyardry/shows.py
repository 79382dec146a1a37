"""Sample shows, for trying things out and for tests."""

from dataclasses import dataclass

from .cues import Cue, Deal, Flysheet
from .crew import Rigger, Rota, Watch
from .errors import _word
from .house import Bar, Hang, House
from .tags import Tag, Tagbook

# bar: name, depth, low, high, limit, drive, pipe, height; then its hangs: name, kg, at, kind
_BARS = {
    "chamber": [
        (("CL1", 60, 80, 700, 150, "hemp", 25, 700), [("Grey cloth", 38, 0, "cloth")]),
        (("LX1", 95, 120, 640, 220, "counterweight", 35, 520), [("Fresnel 1", 7.5, -180, "lamp"), ("Tails", 6, 40, "cable")]),
        (("CL2", 130, 0, 700, 150, "hemp", 25, 350), [])],
    "ballet": [
        (("HB", 30, 300, 1100, 400, "motor", 60, 800), [("House border", 95, 0, "cloth")]),
        (("LX1", 70, 150, 1100, 450, "motor", 55, 760),
         [("Wash 1", 22, -300, "lamp"), ("Wash 2", 22, 280, "lamp"), ("Loom A", 18.5, -100, "cable")]),
        (("F1", 105, 0, 1150, 300, "counterweight", 45, 1150), [("Forest gauze", 52, 0, "cloth")]),
        (("F2", 135, 0, 1150, 300, "counterweight", 45, 0), [("Lake cloth", 61, 0, "cloth"), ("Swan", 34, 210, "set")]),
        (("SP", 175, 0, 1150, 300, "counterweight", 45, 1150), []),
        (("LX2", 215, 150, 1100, 450, "motor", 55, 720), [("Wash 3", 22, -150, "lamp"), ("Loom B", 14, 60, "cable")]),
        (("CY", 320, 0, 1150, 350, "counterweight", 50, 0), [("Cyclorama", 110, 0, "cloth")])],
    "pantomime": [
        (("FR", 25, 0, 1000, 300, "motor", 50, 0), [("Front gauze", 48, 0, "cloth")]),
        (("T1", 50, 0, 1000, 250, "counterweight", 40, 1000), [("Kitchen wall", 88, -60, "set"), ("Pans", 12.5, 140, "set")]),
        (("LX1", 75, 140, 950, 400, "motor", 50, 700), [("Mover 1", 31, -240, "lamp"), ("Loom", 16, -90, "cable")]),
        (("T2", 110, 0, 1000, 250, "counterweight", 40, 1000), [("Palace arch", 120, 0, "set")]),
        (("T3", 140, 0, 1000, 250, "counterweight", 40, 1000), []),
        (("H1", 165, 20, 900, 120, "hemp", 20, 900), [("Star", 9, 75, "set"), ("Moon", 14, -130, "set")]),
        (("LX2", 200, 140, 950, 400, "motor", 50, 680), [("Mover 2", 31, 0, "lamp"), ("Beanstalk lamp", 11, 190, "lamp")]),
        (("BC", 280, 0, 1000, 300, "counterweight", 45, 0), [("Village backcloth", 72, 0, "cloth")])],
}
# cue: number, label, follow; then its deals: bar, to, secs, wait
_CUES = {
    "chamber": [
        (1, "Cloth in", None, [("CL1", "in", 12, 0)]), (2, "Back in", None, [("CL2", "in", 5, 0)]),
        (2.5, "Light shift", 4, [("LX1", 560, 3, 1)]), (3, "End", None, [("CL1", "out", 10, 0), ("CL2", "in", 4, 2)])],
    "ballet": [
        (1, "Border up", None, [("HB", 1000, 4, 0)]), (4, "To the lake", None, [("F1", "in", 14, 0), ("LX1", 820, 2, 3)]),
        (4.5, "Gauze away", 20, [("F1", "out", 15, 0)]), (7, "Swan flies", None, [("F2", 260, 5, 1.5), ("LX2", 900, 3, 0)]),
        (10, "Storm", None, [("F2", "out", 8, 0), ("CY", 400, 6, 2), ("LX1", 1140, 4, 0)]),
        (11, "Storm breaks", 9, [("F1", 300, 12, 0), ("CY", "in", 4, 1)]),
        (12, "Apotheosis", None, [("LX1", 760, 5, 0), ("LX2", 720, 4, 2), ("SP", "out", 3, 0)])],
    "pantomime": [
        (1, "Front out", None, [("FR", "out", 9, 0)]), (2, "Kitchen", None, [("T1", "in", 12, 0), ("LX1", 640, 2, 4)]),
        (3, "Kitchen flies", None, [("T1", "out", 10, 2), ("H1", 420, 9, 0)]), (3.2, "Stars", 6, [("LX2", 860, 3, 0)]),
        (3.4, "Palace", 10, [("T2", "in", 13, 1), ("H1", "out", 8, 0)]), (8, "Beanstalk", None, [("LX2", 980, 4, 0), ("T3", 150, 8, 3)]),
        (9, "Giant falls", None, [("T3", "out", 10, 0), ("T2", "out", 12, 0), ("FR", "out", 5, 0)]),
        (20, "Walk-down", None, [("T2", 550, 5, 6), ("LX1", 700, 4, 0)]), (21, "Front in", 30, [("FR", "in", 10, 2)])],
}
_RIGGERS = {
    "chamber": [("Ines", "head", ("motor",)), ("Bo",)],
    "ballet": [("Marit", "head", ("motor", "height")), ("Teo", "flyman", ("height",)), ("Anselm", "flyman", ("motor",)),
               ("Jun",), ("Pia", "hand", ("height",))],
    "pantomime": [("Odile", "head", ("motor", "height")), ("Ravi", "flyman", ("motor",)), ("Clem", "flyman", ("height",)),
                  ("Nell", "hand", ("height",)), ("Gus",), ("Wanda",)],
}
_WATCHES = {
    "chamber": [("2024-10-04", "18:00", "22:30", "floor", ("Ines", "Bo")), ("2024-10-05", "09:00", "16:00", "floor", ("Bo",))],
    "ballet": [
        ("2024-11-28", "09:00", "17:00", "grid", ("Marit", "Teo", "Pia")), ("2024-11-28", "17:30", "23:30", "floor", ("Anselm", "Jun")),
        ("2024-11-29", "08:30", "13:00", "deck", ("Jun", "Pia")), ("2024-11-29", "18:00", "00:30", "floor", ("Marit", "Teo")),
        ("2024-11-30", "10:30", "15:00", "floor", ("Teo", "Anselm")), ("2024-11-30", "18:00", "02:00", "floor", ("Anselm", "Pia")),
        ("2024-11-30", "23:00", "03:00", "grid", ("Jun",))],
    "pantomime": [
        ("2024-12-20", "10:00", "18:30", "grid", ("Odile", "Clem", "Nell")), ("2024-12-20", "18:00", "23:00", "floor", ("Ravi", "Gus")),
        ("2024-12-21", "09:00", "12:00", "deck", ("Gus", "Wanda")), ("2024-12-21", "12:30", "17:30", "floor", ("Ravi", "Clem", "Nell")),
        ("2024-12-21", "18:00", "00:30", "floor", ("Odile", "Wanda")), ("2024-12-21", "18:00", "23:30", "deck", ("Gus",)),
        ("2024-12-22", "09:30", "14:00", "grid", ("Clem", "Wanda")), ("2024-12-22", "22:00", "05:00", "floor", ("Odile", "Ravi", "Gus"))],
}
_TAGS = {
    "chamber": (365, [("CL1", "2024-01-15", "pass", "Ines"), ("LX1", "2023-09-30", "pass", "Ines")]),
    "ballet": (180, [
        ("HB", "2024-06-03", "pass", "Marit"), ("LX1", "2024-05-20", "pass", "Marit"), ("F1", "2024-09-02", "watch", "Anselm"),
        ("F2", "2024-09-02", "pass", "Anselm"), ("LX2", "2024-05-20", "fail", "Marit"), ("LX2", "2024-06-11", "pass", "Marit"),
        ("CY", "2024-10-14", "fail", "Anselm"), ("F1", "2024-03-04", "pass", "Anselm"), ("HB", "2024-01-08", "watch", "Teo")]),
    "pantomime": (120, [
        ("FR", "2024-09-10", "pass", "Odile"), ("T1", "2024-08-19", "pass", "Ravi"), ("T2", "2024-08-19", "watch", "Ravi"),
        ("T2", "2024-11-04", "watch", "Odile"), ("LX1", "2024-09-10", "fail", "Odile"), ("LX1", "2024-09-16", "pass", "Odile"),
        ("H1", "2024-12-02", "fail", "Ravi"), ("LX2", "2024-08-22", "pass", "Odile"), ("BC", "2024-10-21", "watch", "Clem"),
        ("BC", "2024-05-06", "pass", "Clem"), ("T1", "2024-04-15", "fail", "Clem"), ("H1", "2024-07-01", "pass", "Clem")]),
}


@dataclass
class Show:
    """All that belongs to a production: `title`, `house`, `sheet` (Flysheet), `rota`, and `tags` (Tagbook)."""

    title: str
    house: House
    sheet: Flysheet
    rota: Rota
    tags: Tagbook


def show_names():
    return tuple(_BARS)


def load_show(name):
    """Make one of the sample shows; each call makes it anew.
    >>> show = load_show("ballet")
    >>> show.house.pick().names()
    ['HB', 'LX1', 'F1', 'F2', 'SP', 'LX2', 'CY']
    """
    _word("show", name, show_names())
    house = House(name.title(), [Bar(*bar) for bar, hangs in _BARS[name]])
    for bar, hangs in _BARS[name]:
        for hang in hangs:
            house.bar(bar[0]).hang(Hang(*hang))
    sheet = Flysheet(house, [Cue(n, label, [Deal(*d) for d in deals], follow) for n, label, follow, deals in _CUES[name]])
    rota = Rota([Rigger(*r) for r in _RIGGERS[name]], [Watch(*w) for w in _WATCHES[name]])
    every, tags = _TAGS[name]
    return Show(name.title(), house, sheet, rota, Tagbook([Tag(*t) for t in tags], every))
