"""A whole railway, and three to try things on."""
from dataclasses import dataclass

from .base import UnknownName, mark, miles
from .fuel import Ledger
from .signals import LogLine, SignalLog
from .stock import Roster, Vehicle
from .timetable import Book, Call, Halt, Route, Turn


@dataclass
class Yard:
    """Everything for one railway; `workings` says which vehicles go with which turn."""

    name: str
    route: Route
    book: Book
    roster: Roster
    log: SignalLog
    ledger: Ledger
    workings: dict

    def rake_for(self, number):
        """The rake of a turn."""
        self.book.turn(number)
        return self.roster.make_up(*self.workings[number])

    def mileage(self, day):
        """Miles that each engine runs on a day of the week.

        >>> load_yard("slatequay").mileage("S")
        {'Badger': 3.5, 'Mole': 3.5}
        """
        run = {}
        for turn in self.book.turns(day=day):
            engine = self.workings[turn.number][0]
            run[engine] = run.get(engine, 0) + miles(self.route.run(turn.calls[0].halt, turn.calls[-1].halt))
        return run


_HALTS = {  # name, chains, feet, loop
    "emberly": [("Emberly", 0, 112, True), ("Ashpit", 96, 140, False), ("Furnace", 184, 236, True), ("Clinker Wood", 260, 318, False),
                ("Bellows", 344, 402, True), ("Topgate", 436, 540, False)],
    "slatequay": [("Slate Quay", 0, 9, True), ("Gull Bank", 70, 64, False), ("Incline Foot", 152, 151, True), ("Drumhead", 215, 305, False),
                  ("Quarry", 280, 420, True)],
    "mossgate": [("Mossgate", 0, 301, True), ("Peat Siding", 128, 262, False), ("Heron", 232, 240, True), ("Sedge Lane", 310, 255, False),
                 ("Withy", 388, 231, True), ("Old Lock", 470, 204, False), ("Fen End", 560, 190, True)],
}
_TURNS = {  # number, way, days, start, mph, waits, halts passed, request halts; waits is minutes at halts where it is not one
    "emberly": [(1, "out", "MTWHFS", "7:00", 12, {"Furnace": 6}, (), ("Clinker Wood",)),
                (2, "home", "MTWHFS", "7:01", 13, {"Bellows": 2, "Furnace": 9}, (), ("Clinker Wood",)),
                (3, "out", "MTWHFSU", "8:50", 12, {}, ("Ashpit",), ("Clinker Wood",)),
                (4, "home", "MTWHFSU", "10:20", 13, {"Furnace": 4}, (), ("Clinker Wood", "Ashpit")),
                (5, "out", "MTWHFS", "13:30", 12, {"Furnace": 3}, (), ("Ashpit",)),
                (6, "home", "MTWHF", "13:22", 12, {"Furnace": 18}, ("Clinker Wood",), ()),
                (7, "out", "F", "22:55", 11, {}, ("Ashpit", "Clinker Wood"), ()),
                (8, "home", "F", "23:58", 13, {}, ("Ashpit", "Clinker Wood"), ())],
    "slatequay": [(11, "out", "MTWHFS", "6:30", 9, {"Incline Foot": 5}, ("Gull Bank",), ()),
                  (12, "home", "MTWHFS", "6:40", 10, {"Incline Foot": 8}, (), ()),
                  (13, "out", "MTWHF", "9:15", 9, {}, (), ("Drumhead",)),
                  (14, "home", "MTWHF", "10:05", 10, {}, (), ("Gull Bank",)),
                  (15, "out", "MWF", "14:00", 10, {"Incline Foot": 10}, ("Gull Bank",), ()),
                  (16, "home", "MWFU", "14:10", 10, {}, (), ("Drumhead",))],
    "mossgate": [(21, "out", "MTWHFSU", "7:20", 15, {"Heron": 4, "Withy": 2}, (), ("Peat Siding",)),
                 (22, "home", "MTWHFSU", "7:15", 15, {"Heron": 6}, (), ("Old Lock",)),
                 (23, "out", "MTWHFS", "10:00", 14, {"Withy": 12}, ("Peat Siding", "Old Lock"), ()),
                 (24, "home", "MTWHFS", "10:10", 15, {"Withy": 3}, (), ("Sedge Lane", "Peat Siding")),
                 (25, "out", "SU", "15:45", 15, {}, (), ("Sedge Lane",)),
                 (26, "home", "SU", "17:05", 16, {}, ("Old Lock",), ()),
                 (27, "out", "S", "23:10", 15, {}, ("Peat Siding", "Sedge Lane"), ())],
}
_STOCK = {  # tag, kind, tare, load, seats, feet, pull, worn, braked
    "emberly": [("Wren", "engine", 160, 0, 0, 18, 900, 4210, True), ("Linnet", "engine", 204, 0, 0, 21, 1180, 1875, True),
                ("C1", "coach", 92, 24, 32, 30, 0, 2890, True), ("C2", "coach", 92, 24, 32, 30, 0, 5120, True),
                ("C3", "coach", 104, 30, 40, 34, 0, 760, True), ("W1", "wagon", 44, 100, 0, 16, 0, 1300, True),
                ("W2", "wagon", 40, 90, 0, 15, 0, 4400, False), ("W3", "wagon", 40, 80, 0, 15, 0, 610, False),
                ("V1", "van", 60, 12, 6, 20, 0, 3050, True)],
    "slatequay": [("Badger", "engine", 236, 0, 0, 22, 1400, 3320, True), ("Mole", "engine", 150, 0, 0, 17, 820, 2985, True),
                  ("S1", "coach", 88, 20, 28, 28, 0, 4015, True), ("S2", "coach", 88, 20, 28, 28, 0, 1990, True),
                  ("D1", "wagon", 36, 120, 0, 14, 0, 2210, False), ("D2", "wagon", 36, 120, 0, 14, 0, 5030, False),
                  ("D3", "wagon", 36, 120, 0, 14, 0, 900, False), ("B1", "van", 72, 8, 4, 22, 0, 3320, True)],
    "mossgate": [("Otter", "engine", 180, 0, 0, 19, 1020, 990, True), ("Heron", "engine", 198, 0, 0, 20, 1100, 4700, True),
                 ("M1", "coach", 96, 26, 36, 32, 0, 2500, True), ("M2", "coach", 96, 26, 36, 32, 0, 4700, True),
                 ("M3", "coach", 110, 32, 44, 36, 0, 3610, True), ("P1", "wagon", 38, 70, 0, 15, 0, 1720, False),
                 ("P2", "wagon", 42, 84, 0, 16, 0, 2640, True), ("G1", "van", 58, 10, 8, 20, 0, 410, True)],
}
_WORKINGS = {
    "emberly": {1: "Wren C1 C2", 2: "Linnet C3 W1 W2 V1", 3: "Wren C1 C2 V1", 4: "Wren C1 C2 V1", 5: "Linnet C3 W1 W3",
                6: "Wren C1", 7: "Linnet C3 C2", 8: "Linnet C3 C2"},
    "slatequay": {11: "Badger D1 D2 D3 B1", 12: "Mole S1 S2", 13: "Mole S1 S2", 14: "Badger D1 D2 D3 B1", 15: "Badger S1 D3 B1",
                  16: "Mole S2"},
    "mossgate": {21: "Otter M1 M2 G1", 22: "Heron M3 P1", 23: "Heron M3 P1 P2", 24: "Otter M1 M2 G1", 25: "Otter M1 M3",
                 26: "Heron M2 G1", 27: "Heron M3"},
}
_BUNKER = {  # coal opening, price, oil opening, price, counts as (day, fuel, shortfall)
    "emberly": (420, 14, 60, 9, [(16, "coal", 7), (16, "oil", 2)]),
    "slatequay": (380, 13, 48, 10, [(14, "coal", 4), (28, "coal", -3)]),
    "mossgate": (510, 16, 72, 8, [(20, "oil", 3)]),
}


def _plan(route, number, way, days, start, mph, waits, passed, asked):
    halts = list(route) if way == "out" else list(route)[::-1]
    now, calls = mark(start), []
    for i, halt in enumerate(halts):
        if i:
            now += round(miles(route.run(halts[i - 1].name, halt.name)) / mph * 60)
        manner = "pass" if halt.name in passed else "request" if halt.name in asked else "stop"
        stand = 0 if manner == "pass" else waits.get(halt.name, 1)
        last = i == len(halts) - 1
        calls.append(Call(halt.name, now if i else None, None if last else now + (stand if i else 0), manner))
        now += stand if i else 0
    return Turn(number, way, days, tuple(calls))


def _write_log(book):
    lines = []
    for turn in book.turns(day="F"):
        for i, call in enumerate(turn.calls[1:], start=1):
            if not book.route[call.halt].loop:
                continue
            late = (turn.number * 7 + i * 5) % 11 - 3
            lever = 2 if turn.way == "out" else 5
            if late > 0:
                lines.append(LogLine(call.arr, call.halt, lever, "whistle", turn.number))
            lines.append(LogLine(call.arr + late, call.halt, lever, "off"))
            lines.append(LogLine(call.arr + max(late, 0) + 3, call.halt, lever, "on"))
    return SignalLog(lines)


def _keep_ledger(name, book, workings):
    coal, coal_price, oil, oil_price, counts = _BUNKER[name]
    ledger = Ledger()
    ledger.post("1926-04-30", "deliver", "coal", coal, price=coal_price)
    ledger.post("1926-04-30", "deliver", "oil", oil, price=oil_price)
    for date in range(1, 32):
        day = f"1926-05-{date:02d}"
        if date % 9 == 0:
            ledger.post(day, "deliver", "coal", 160 + 10 * (date % 4), price=coal_price + date % 5)
        if date in (12, 24):
            ledger.post(day, "deliver", "oil", 30, price=oil_price + date // 12)
        engines = sorted({workings[t.number][0] for t in book.turns(day="SUMTWHF"[(date - 1) % 7])})
        for i, engine in enumerate(engines):
            ledger.post(day, "draw", "coal", 9 + (date * 3 + i * 5) % 6, engine=engine)
            if (date + i) % 2:
                ledger.post(day, "draw", "oil", 2 + (date + i) % 3, engine=engine)
        for when, fuel, short in counts:
            if when == date:
                ledger.post(day, "count", fuel, ledger.stock(fuel) - short)
    return ledger


def yard_names():
    return sorted(_HALTS)


def load_yard(name):
    """A yard of the sample railways, with its log of one Friday and its ledger of May 1926.

    >>> load_yard("emberly").route.names
    ['Emberly', 'Ashpit', 'Furnace', 'Clinker Wood', 'Bellows', 'Topgate']
    """
    if name not in _HALTS:
        raise UnknownName("yard", name, yard_names())
    route = Route(Halt(*row) for row in _HALTS[name])
    book = Book(route, [_plan(route, *row) for row in _TURNS[name]])
    roster = Roster(Vehicle(*row) for row in _STOCK[name])
    workings = {number: tuple(tags.split()) for number, tags in _WORKINGS[name].items()}
    return Yard(name, route, book, roster, _write_log(book), _keep_ledger(name, book, workings), workings)
