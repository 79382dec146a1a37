"""The exploration that overhead is measured on: six subtasks, three candidates each; all run.

It uses the standard library alone, so that it runs in any Python and costs a fresh kernel as little
as possible.
"""

from __future__ import annotations

import textwrap
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
    """The subtasks with their candidates."""
    return tuple(
        Step(goal, tuple(textwrap.dedent(code).strip() for code in candidates))
        for goal, candidates in _STEPS
    )


_STEPS = (
    (
        "Read the text into a list of dictionaries",
        (
            """
            rows = list(csv.DictReader(io.StringIO(orders)))
            rows[:2]
            """,
            """
            reader = csv.DictReader(orders.splitlines())
            rows = [dict(row) for row in reader]
            print(rows[0])
            """,
            """
            lines = list(csv.reader(io.StringIO(orders)))
            rows = [dict(zip(lines[0], line)) for line in lines[1:]]
            len(rows)
            """,
        ),
    ),
    (
        "Work out the total of each order",
        (
            """
            totals = [(row["customer"], float(row["price"]) * int(row["count"])) for row in rows]
            totals[:3]
            """,
            """
            totals = []
            for row in rows:
                totals.append((row["customer"], float(row["price"]) * float(row["count"])))
            print(totals[0])
            """,
            """
            prices = [float(row["price"]) for row in rows]
            counts = [int(row["count"]) for row in rows]
            totals = [(row["customer"], p * c) for row, p, c in zip(rows, prices, counts)]
            """,
        ),
    ),
    (
        "Collect the totals of each customer",
        (
            """
            groups = {}
            for customer, total in totals:
                groups.setdefault(customer, []).append(total)
            len(groups)
            """,
            """
            names = sorted({customer for customer, _ in totals})
            groups = {name: [total for who, total in totals if who == name] for name in names}
            """,
            """
            from collections import defaultdict
            groups = defaultdict(list)
            for customer, total in totals:
                groups[customer].append(total)
            print(list(groups)[:3])
            """,
        ),
    ),
    (
        "Work out the mean total of each customer",
        (
            """
            means = {name: statistics.mean(each) for name, each in groups.items()}
            means["customer 1"]
            """,
            """
            means = {name: statistics.fmean(each) for name, each in groups.items()}
            print(json.dumps(means)[:80])
            """,
            """
            means = {}
            for name, each in groups.items():
                means[name] = sum(each) / len(each)
            """,
        ),
    ),
    (
        "Rank the customers by their mean",
        (
            """
            ranked = sorted(means.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
            ranked[:3]
            """,
            """
            ranked = sorted(((mean, name) for name, mean in means.items()), reverse=True)
            ranked = [(name, mean) for mean, name in ranked]
            """,
            """
            import heapq
            ranked = heapq.nlargest(len(means), means.items(), key=lambda pair: pair[1])
            print(ranked[0])
            """,
        ),
    ),
    (
        "Keep the best three with rounded means",
        (
            """
            best = [(name, round(mean, 2)) for name, mean in ranked[:3]]
            best
            """,
            """
            best = []
            for name, mean in ranked[:3]:
                best.append((name, float(f"{mean:.2f}")))
            """,
            """
            best = list(map(lambda pair: (pair[0], round(pair[1], 2)), ranked[:3]))
            print(json.dumps(best))
            """,
        ),
    ),
)
