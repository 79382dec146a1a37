"""The exploration that overhead is measured on: six subtasks, three candidates each; all run.

It uses the standard library alone, so that it runs in any Python and costs a fresh kernel as little
as possible.
"""

from __future__ import annotations

from dataclasses import dataclass

from exploracoder_bench.problems import Problem

LIBRARIES = ("statistics", "csv")

CONTEXT = """\
import csv
import io
import json
import statistics

orders = "customer,item,price,count\\n" + "".join(
    f"customer {number % 23},item {number % 7},{number % 50 + 0.5},{number % 3 + 1}\\n"
    for number in range(2000)
)
"""

TASK = """\
Report which customers spend most for each order, from the text `orders`, which is CSV.

1. Read the text into a list of dictionaries.
2. Work out each order's total: price times count, as numbers.
3. Collect the totals of each customer.
4. Work out the mean total of each customer with statistics.
5. Rank the customers by their mean, the highest first.
6. Keep the best three as a list of (customer, mean rounded to two digits).

```python
def best_customers(orders: str) -> list:
    \"\"\"The three customers with the highest mean total, as (customer, mean).\"\"\"
```
"""

CHECK = """\
totals = {}
for row in csv.DictReader(io.StringIO(orders)):
    totals.setdefault(row["customer"], []).append(float(row["price"]) * int(row["count"]))
means = sorted(((statistics.mean(each), name) for name, each in totals.items()), reverse=True)
found = best_customers(orders)
assert [name for name, _ in found] == [name for _, name in means[:3]], found
assert all(abs(mean - means[rank][0]) < 0.01 for rank, (_, mean) in enumerate(found)), found
"""

SOLUTION = """\
def best_customers(orders: str) -> list:
    totals = {}
    for row in csv.DictReader(io.StringIO(orders)):
        totals.setdefault(row["customer"], []).append(float(row["price"]) * int(row["count"]))
    means = {name: statistics.mean(each) for name, each in totals.items()}
    ranked = sorted(means.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
    return [(name, round(mean, 2)) for name, mean in ranked[:3]]
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A subtask and its candidates; the chain continues from the first."""

    goal: str
    candidates: tuple[str, ...]


def problem(python: str) -> Problem:
    """The exploration as a problem for the command line."""
    return Problem(
        name="six_steps",
        dataset="overhead",
        task=TASK,
        context=CONTEXT,
        check=CHECK,
        entry_point="best_customers",
        libraries=LIBRARIES,
        python=python,
    )


def steps() -> tuple[Step, ...]:
    """The subtasks with their candidates: one snippet, and two that print something of its value.

    Candidates that are alike would run once.
    """
    return tuple(
        Step(goal, (code, f"{code}\nprint(len({name}))", f"{code}\nprint(type({name}).__name__)"))
        for goal, name, code in _STEPS
    )


# A goal, the name that the snippet assigns, and the snippet.
_STEPS = (
    (
        "Read the text into a list of dictionaries",
        "rows",
        "rows = list(csv.DictReader(io.StringIO(orders)))\nrows[:2]",
    ),
    (
        "Work out the total of each order",
        "totals",
        'totals = [(row["customer"], float(row["price"]) * int(row["count"])) for row in rows]\n'
        "totals[:3]",
    ),
    (
        "Collect the totals of each customer",
        "groups",
        "groups = {}\n"
        "for customer, total in totals:\n"
        "    groups.setdefault(customer, []).append(total)\n"
        "len(groups)",
    ),
    (
        "Work out the mean total of each customer",
        "means",
        "means = {name: statistics.mean(each) for name, each in groups.items()}\n"
        'means["customer 1"]',
    ),
    (
        "Rank the customers by their mean",
        "ranked",
        "ranked = sorted(means.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)\n"
        "ranked[:3]",
    ),
    (
        "Keep the best three with rounded means",
        "best",
        "best = [(name, round(mean, 2)) for name, mean in ranked[:3]]\nbest",
    ),
)
