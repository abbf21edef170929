"""Hits as one HTML file that needs nothing else: no scripts, no other files, no network."""

import base64
import io
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from string import Template

from softhash.cli._answer import UNKNOWN, Answer, how_sure, likely_shown, percent
from softhash.cli._thumbnails import small
from softhash.devices import usable_cores
from softhash.errors import ImageError
from softhash.index import Hit, SearchResult
from softhash.plots.contact_sheet import ALL, NONE, SOME

SIDE = 320  # pixels of a picture's longer side
QUALITY = 80

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>$title</title>
<style>
:root { color-scheme: light dark; --text: #1d1d1f; --dim: #63636a; --page: #fafafa; --card: #fff }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececf0; --dim: #a0a0aa; --page: #16161a; --card: #212127 }
}
body { margin: 0 auto; padding: 1rem; max-width: 80rem; background: var(--page);
       color: var(--text); font: 1rem/1.4 system-ui, sans-serif }
h1 { font-size: 1.25rem; margin: 0 0 .25rem; overflow-wrap: anywhere }
p { margin: 0 0 1rem; color: var(--dim) }
.key { white-space: nowrap; margin-right: 1rem }
.key::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .4em;
               border-radius: .15em; background: var(--frame) }
ol { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .75rem;
     margin: 0; padding: 0; list-style: none }
li { background: var(--card); border-radius: .5rem; overflow: hidden;
     border: .3rem solid var(--frame) }
img, .lost { display: block; width: 100%; aspect-ratio: 1; object-fit: contain;
             background: #0001 }
.lost { display: grid; place-items: center; color: var(--dim); font-size: .85rem }
div.text { padding: .4rem .5rem .5rem; font-size: .85rem; overflow-wrap: anywhere }
.rank { color: var(--dim); display: flex; justify-content: space-between }
.labels { color: var(--dim) }
.labels b { color: var(--text) }
.labels span { white-space: nowrap }
</style>
</head>
<body>
<h1>$title</h1>
<p>$summary</p>
<p>$keys</p>
<ol>
$cards
</ol>
</body>
</html>
""")

CARD = Template("""<li style="--frame: $frame">$picture<div class="text">
<div class="rank"><span>$rank</span><span>$distance</span></div>
<div>$name</div><div class="labels">$labels</div></div></li>""")

QUERY_FRAME = "var(--text)"


def hits_page(answer: Answer) -> str:
    """Write a page: the query first, then the hits in frames that show what they share with it."""
    result = answer.result
    with ThreadPoolExecutor(usable_cores()) as pool:
        pictures = list(pool.map(_picture, (answer.picture, *answer.paths)))
    cards = [_query_card(answer, pictures[0])] if result.code else []
    for rank, (hit, picture) in enumerate(zip(result, pictures[1:], strict=True), result.first):
        cards.append(_card(answer, hit, rank, picture))
    title, summary = f"Nearest to {answer.title}", f"Hits: {len(result)}; code {result.code.hex()}"
    if not result.code:
        title, summary = f"Items with {answer.title}", f"Hits: {len(result)}"
    if result.total is not None:
        summary = f"{len(result):,} of {result.total:,} items"
    keys = _keys(result) if result.code else ""
    return PAGE.substitute(title=escape(title), summary=summary, keys=keys, cards="\n".join(cards))


def _query_card(answer: Answer, picture: str) -> str:
    return CARD.substitute(
        frame=QUERY_FRAME,
        picture=picture,
        rank="query",
        distance="",
        name=escape(answer.title),
        labels=escape(", ".join(answer.result.labels)) + _likely(answer.result),
    )


def _card(answer: Answer, hit: Hit, rank: int, picture: str) -> str:
    labels = sorted(hit.labels, key=lambda one: (one not in hit.shared, one))
    given = [f"<b>{escape(x)}</b>" if x in hit.shared else escape(x) for x in labels]
    likely = [
        f"<i>{escape(name)}? <span>{escape(p)}</span></i>"
        for name, p in likely_shown(hit, answer.result)
    ]
    return CARD.substitute(
        frame=answer.frame(hit),
        picture=picture,
        rank=f"{rank}",
        distance=_distance(hit),
        name=escape(hit.file_name),
        labels=", ".join([*given, *likely]),
    )


def _likely(result: SearchResult) -> str:
    named = (
        f"{escape(label)} <span>{escape(percent(value))}</span>"
        for label, value in result.likely.items()
    )
    return f"<div>looks like: {', '.join(named)}</div>" if result.likely else ""


def _distance(hit: Hit) -> str:
    """Return what a hit was ranked by, and how sure it is."""
    rescored = "" if hit.rescored is None else f" ({hit.rescored:.3f})"
    parts = [
        "" if hit.distance is None else f"distance {hit.distance}{rescored}",
        "" if hit.score is None else f"score {hit.score:.2f}",
        f"sure {escape(how_sure(hit))}" if hit.sure is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def _keys(result: SearchResult) -> str:
    if not result.labels:
        return _key(UNKNOWN, "the query's labels are not known")
    names = {ALL: "shares all of the query's labels", SOME: "some of them", NONE: "none"}
    return "".join(_key(colour, name) for colour, name in names.items())


def _key(colour: str, name: str) -> str:
    return f'<span class="key" style="--frame: {colour}">{name}</span>'


def _picture(path: Path | None) -> str:
    """Put a small copy of the picture into the page."""
    if path is None:
        return '<div class="lost">no picture</div>'
    try:
        file = io.BytesIO()
        small(path, SIDE).save(file, "JPEG", quality=QUALITY)
    except ImageError:
        return '<div class="lost">cannot be read</div>'
    return f'<img alt="" src="data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}">'
