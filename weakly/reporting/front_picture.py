"""Published and measured AUC-PR, a panel per method: the first picture of the page and of README.md."""

from functools import partial

from weakly.methods import METHODS
from weakly.numbers import number, signed
from weakly.reporting.charts import ROW, draw_published
from weakly.reporting.pictures import Panel, poster, save


def published_panels(table):
    """Published (ring) to reproduced (dot) on each data set; coloured where the two differ."""
    for method in [name for name in METHODS if name in set(table["method"])]:
        cells = table.loc[
            table["method"] == method, ["dataset", "published", "reproduced", "difference", "verdict"]
        ]
        sets, gap = list(dict.fromkeys(table["dataset"])), cells["difference"]
        label = f"{METHODS[method].column}: published and measured AUC-PR on {len(cells)} data sets, "
        label += f"mean difference {signed(gap.mean())}, mean size {number(gap.abs().mean())}: "
        label += ", ".join(
            f"{c.dataset} {number(c.published)} to {number(c.reproduced)}" for c in cells.itertuples()
        )
        yield Panel(
            partial(draw_published, method, cells, sets),
            f"{METHODS[method].column} {signed(gap.mean(), 2)}",
            label,
            attributes={"data-method": method},
            size=(240, ROW * len(sets) + 22),
            margins=(62, 46, 2, 20),
        )


def draw_front_picture(table, folder):
    """Write <folder>/figures/published.png and .svg; table: cells on exact data."""
    panels = list(published_panels(table))
    title = "AUC-PR: published (ring) to measured (dot); coloured: a difference beyond 0.03 and its interval"
    return save(poster(panels, title, columns=5, size=panels[0].size), folder / "figures" / "published")
