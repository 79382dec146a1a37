"""``exploracoder model prices``."""

from __future__ import annotations

import click


@click.command()
@click.argument("model", default="")
def prices(model: str) -> int:
    """Say where your table of prices is, or what MODEL costs by it.

    The table is made when there is none, with an example in comments: write into it what you pay.
    Then 'exploracoder explore' says with the tokens what they cost. Exit code 1: no price.
    """
    from exploracoder.models.prices import make_table, price_of

    if not model:
        click.echo(make_table())
        return 0
    price = price_of(model)
    click.echo(price.in_words if price is not None else f"{model} has no price.")
    return 0 if price is not None else 1
