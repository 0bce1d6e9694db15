"""Pictures for pages and for Markdown: themes, ids, sizes, and texts from files."""

import re
from functools import partial

from report_pages import Elements

from weakly.reporting.charts import draw_marker, draw_theorem
from weakly.reporting.palette import LOOKS
from weakly.reporting.pictures import COLOURS, Album, Panel, as_svg, figure, variables


def drawn(label="a <picture>"):
    picture, axes = figure(200, 100)
    names = {"gid": "data-method=prenet", "label": "$a_1$ & <b>"}
    axes.plot([0, 1], [0, 1], "o-", color=COLOURS["prenet"].light, **names)
    axes.fill_between([0, 1], [0, 1], color=COLOURS["released"].light, alpha=0.2)
    picture.legend()
    return as_svg(picture, label)


def test_a_picture_has_variables_instead_of_colours_and_attributes_instead_of_styles():
    text = drawn()
    page = Elements(text)
    (svg,) = page.find("svg", role="img")
    assert svg["aria-label"] == "a <picture>" and svg["viewbox"] == "0 0 200 100"
    assert all(f'"var(--{name})"' in text for name in ("prenet", "text", "released"))
    assert not re.search(r"<text[^>]*fill=.var.--muted", text)  # a picture's own colour, in page.css
    assert not re.search(r"style|#[0-9a-f]{6}|font-family", text)
    assert len(page.find("g", data_method="prenet")) == 1
    assert "$a_1$ & <b>" in [one["text"] for one in page.find("text")]
    assert "--prenet: light-dark(#c94f00, #ff8a3d)" in variables()


def test_ids_are_the_same_each_time_and_others_in_another_picture():
    ids = [set(re.findall(r' id="(\w+)"', drawn(label))) for label in ("one", "one", "two")]
    assert ids[0] and ids[0] == ids[1] and not ids[0] & ids[2]
    assert set(re.findall(r"#(\w+)", drawn("one"))) == ids[0]


def test_a_picture_of_the_earlier_page_is_kept_until_its_data_change():
    panels = [Panel(partial(draw_marker, name), size=(14, 14), margins=(0, 0, 0, 0)) for name in LOOKS]
    album, bounds = Album(), (0.1, 0.30000000000000004)
    first, again = album.svg(panels[0]), album.svg(panels[0])
    assert first != again == first.replace(f"s{panels[0].key()}", f"s{panels[0].key()}x2")  # other ids
    kept = Album(f"<p>{first.replace('<path', '<path class=earlier')}</p>")
    assert "earlier" in kept.svg(panels[0]) and "earlier" not in kept.svg(panels[1])
    draws = (partial(draw_theorem, 0, (bounds[0], 0.3)), partial(draw_theorem, 0, bounds))
    assert len({Panel(draw).key() for draw in draws}) == 1  # the last digits differ between processors
