"""Tests of the lab in a browser: start, watch, stop and resume runs, also after a kill."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import axe_report, choose_opponent, need_browser, opened, until_said
from lab_server import LONG, MINE, LabServer, lab

from knightfall.position import Position
from knightfall.web.site import PAGE

need_browser()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """Start a lab with a run of each kind in its store."""
    with lab(tmp_path_factory.mktemp("lab")) as found:
        small = {"board": "5x5", "pairs": 4}
        for path, body in (
            ("/api/matches", {"a": "greedy(improved)", "b": "random", "sprt": [0, 50]}),
            ("/api/tournaments", {"tests": ["greedy(open)", "random"], "against": ["random"]}),
            ("/api/leagues", {"agents": ["greedy(open)", "random", "greedy(improved)"]}),
        ):
            job = found.begin(path, **small, **body)
            found.until_job(job["id"], lambda job: job["state"] == "finished")
        job = found.begin("/api/gradings", agent="greedy(open)", openings=3, board="5x5")
        found.until_job(job["id"], lambda job: job["state"] == "finished")
        yield found


@contextmanager
def uncertain(browser: Any, url: str) -> Iterator[Any]:
    """Open a page whose server may be killed; errors in its console are ignored."""
    context = browser.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(url)
    page.wait_for_function("() => globalThis.knightfall?.state.ready")
    yield page
    context.close()


def begin(page: Any, kind: str, **fields: str) -> None:
    """Fill in the form for a kind of run and submit it."""
    page.select_option(".start [name=kind]", kind)
    page.click(".start summary")
    for name, value in fields.items():
        page.fill(f".start [name={name}]", value)
    page.click(".start button.main")


def test_start_watch_stop_kill_and_go_on(browser: Any, tmp_path: Path) -> None:
    server = LabServer(tmp_path, "slow.py")
    with uncertain(browser, f"{server.url}#/lab") as page, uncertain(browser, server.url) as other:
        begin(page, "match", a=LONG["a"], b="random", pairs="60")
        page.wait_for_url("**/#/lab/run/1")
        page.wait_for_selector("text=being played")
        page.wait_for_selector("section.lab table")
        page.wait_for_selector(".small-boards figure")
        # Another tab shows the run and can stop it.
        other.click("nav >> text=Lab")
        other.wait_for_selector(".job progress")
        other.click(".job a")
        other.wait_for_url("**/#/lab/run/1")
        other.click("button:has-text('Stop')")
        page.wait_for_selector("button:has-text('Resume'):visible")
        page.click("button:has-text('Resume')")
        page.wait_for_selector("text=being played")
        # The server is killed; its successor on the same port has another token.
        server.process.kill()
        server.process.wait()
        page.wait_for_selector("text=The connection to the server is lost; trying again")
        again = LabServer(tmp_path, "slow.py", port=server.port)
        try:
            page.wait_for_selector(".connection", state="hidden")
            page.wait_for_selector("button:has-text('Resume'):visible")
            before = again.get("/api/runs/1")["played"]
            page.click("button:has-text('Resume')")
            page.wait_for_selector("text=being played")
            job = again.get("/api/state")["jobs"][-1]
            again.until_job(job["id"], lambda job: job["done"] > before)
            page.reload()  # a reload is the same tab, and its run goes on
            page.wait_for_selector("text=being played")
        finally:
            assert again.end(signal.SIGINT) == 130


def test_from_a_number_to_the_games_to_the_analysis(browser: Any, server: LabServer) -> None:
    with opened(browser, f"{server.url}#/lab") as page:
        page.click("tbody th a:text-is('2')")
        page.wait_for_selector("caption:has-text('Won | lost')")
        number = page.locator("table >> nth=0 >> td a").first
        won = int(number.inner_text())
        number.click()
        page.wait_for_selector("h2:has-text('Games of run 2')")
        page.wait_for_function("() => /Games .*won by/.test(document.body.innerText)")
        assert page.locator("section.lab tbody tr").count() == won
        # The solver's judgement of each game appears in its row.
        page.wait_for_function(
            "() => [...document.querySelectorAll('section.lab tbody tr')]"
            ".every((row) => /^[0-9]/.test(row.cells[5].innerText))"
        )
        game = page.locator("section.lab tbody th a").first
        run, pair, number = game.inner_text().split(".")
        truth = server.get(f"/api/runs/{run}/games/{pair}/{number}/truth")
        (row,) = [
            one
            for one in server.get(f"/api/runs/{run}/games")["games"]
            if one["id"] == game.inner_text()
        ]
        names = server.get(f"/api/runs/{run}/games")["short"]
        shown = page.locator("section.lab tbody tr").first.locator("td").all_inner_texts()
        assert shown[3] == names[row["first"] if truth["opening"] == "w" else row["second"]]
        assert shown[4].split()[0] == str(len(truth["thrown"]))
        game.click()
        page.wait_for_selector("text=Won from the start by")
        page.wait_for_selector(".small-boards button")
        sizes = page.locator(".small-boards button").evaluate_all(
            "all => all.map((one) => one.clientWidth - one.clientHeight)"
        )
        assert max(map(abs, sizes)) <= 1  # cells are square
        page.click("text=Analyse this game")
        until_said(page, "won: ")
        moves = re.search(r"moves=([\w.]+)", page.url)
        fen = re.search(r"fen=([^&]+)", page.url)
        assert moves
        assert fen
        position = Position.from_fen(
            page.evaluate("text => decodeURIComponent(text)", fen[1]).replace("+", " ")
        )
        for move in moves[1].split("."):
            position = position.play(move)
        assert position.winner is not None
        plies = len(moves[1].split("."))
        for left in range(1, 5):  # step back, then play on against another opponent
            page.keyboard.press("ArrowLeft")
            page.wait_for_function(
                "n => knightfall.play.tree.line().length === n", arg=plies - left
            )
        page.click("#from-here")
        choose_opponent(page, "random")
        page.click("#start")
        page.wait_for_function(
            "() => { const { game, thinking, look } = knightfall.state; return game.agent "
            "&& !thinking && look?.node === game.tree.at "
            "&& (game.tree.at.position.side === game.you || !look.seen.moves.length); }"
        )


PLACES = (
    "lab", "lab/grading/1", "lab/run/1", "lab/run/2", "lab/run/3", "lab/run/1/games",
    "lab/run/1/game/0/0", "studies",
)  # fmt: skip


@pytest.mark.parametrize("how", ["phone", "dark"])
def test_it_fits_a_phone_and_can_be_read(browser: Any, server: LabServer, how: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    options = phone if how == "phone" else {"color_scheme": "dark", "reduced_motion": "reduce"}
    with opened(browser, f"{server.url}#/lab", **options) as page:
        for where in PLACES:
            page.evaluate("where => (location.hash = `/${where}`)", where)
            view = "studies" if where == "studies" else "lab"
            page.wait_for_function("where => location.hash === `#/${where}`", arg=where)
            page.wait_for_selector(f"section[data-view={view}] table >> visible=true")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
            found = axe_report(page)["violations"]
            assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == [], where


def test_what_an_extension_shows_can_run_nothing(browser: Any, server: LabServer) -> None:
    """Check that the content security policy stops scripts in an extension's HTML."""
    html = (
        "<h2>Foreign</h2><script>window.ran = 1</script>"
        "<img src='data:image/png;base64,x' onerror='window.ran = 2'>"
        "<button style='color: rgb(1, 2, 3)' onclick='window.ran = 3'>Press</button>"
    )
    answer = {"name": "studies", "title": "Studies", "html": html}
    with uncertain(browser, f"{server.url}#/lab") as page:
        page.route("**/api/parts/studies", lambda route: route.fulfill(json=answer))
        page.click("nav a:text-is('Studies')")
        page.wait_for_selector("h2:text-is('Foreign')")
        page.click("button:text-is('Press')")
        assert page.evaluate("window.ran") is None
        colour = "getComputedStyle(document.querySelector('main section button')).color"
        assert page.evaluate(colour) != "rgb(1, 2, 3)"


def test_charts_show_what_the_report_says(browser: Any, server: LabServer) -> None:
    with opened(browser, f"{server.url}#/lab/run/1") as page:
        page.wait_for_selector("svg[aria-label^='Log-likelihood ratio']")
        label = page.get_attribute("svg[aria-label^='Ratings']", "aria-label")
        elo = server.get("/api/runs/1")["report"]["elo"]
        shown = "+∞" if isinstance(elo, str) else f"{elo:+.0f}".replace("-", "−")
        assert f"greedy(improved) {shown}" in label
        assert page.locator(".small-boards figure").count() == 4


ROWS = """[
  { name: "id(improved, nodes=2500)", short: "improved", elo: 12, error: 30 },
  { name: "very_long_name_of_an_agent_that_somebody_wrote(with, arguments=12345, and=more)",
    elo: -1000, error: 4000 },
  { name: "infinite", elo: "inf", error: "inf" }, { name: "unsure", elo: 400, error: "inf" }]"""

OUTSIDE = """(width) => {
  const parts = document.querySelectorAll(":is(line, path, circle, text):is(svg.tried *)");
  return [...parts].filter((one) => {
    const { x, width: wide } = one.getBBox();
    return x < 0 || x + wide > width;
  }).map((one) => one.outerHTML);
}"""


@pytest.mark.parametrize("width", [320, 760])
def test_intervals_stay_inside_their_chart(browser: Any, server: LabServer, width: int) -> None:
    with opened(browser, f"{server.url}#/lab") as page:
        page.evaluate(
            f"""async (width) => {{
              const {{ ratingsChart }} = await import("/lab/charts.js");
              const figure = ratingsChart({ROWS}, width);
              figure.querySelector("svg").classList.add("tried");
              document.querySelector("section.lab").append(figure);
            }}""",
            width,
        )
        assert page.evaluate(OUTSIDE, width) == []
        # Three bars end in arrows: a wide error, an infinite error, and an infinite rating.
        assert page.locator("svg.tried .beyond").count() == 2 + 2 + 1
        assert page.locator("svg.tried .dot").count() == 3


def test_the_lab_s_styles_leave_the_board_alone(browser: Any, server: LabServer) -> None:
    look = "() => (({ borderLeftWidth: a, paddingLeft: b, marginTop: c }) => [a, b, c])"
    with opened(browser, server.url) as page:
        page.wait_for_selector("#board .file")
        label = "(getComputedStyle(document.querySelector('#board .file')))"
        assert page.evaluate(f"() => ({look})(){label}") == ["0px", "0px", "0px"]
    text = (PAGE / "lab" / "lab.css").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    selectors = [
        one.strip()
        for rule in re.findall(r"([^{}]+)\{", text)
        if not rule.strip().startswith("@")
        for one in rule.split(",")
    ]
    assert [one for one in selectors if not one.startswith((".lab ", "header .connection"))] == []


def test_agents_by_short_names_and_in_full(browser: Any, server: LabServer) -> None:
    with opened(browser, f"{server.url}#/lab/run/1") as page:
        name = page.locator("section.lab tbody abbr").first
        assert name.inner_text() == "improved"
        assert name.get_attribute("title") == "greedy(improved)"
        name.focus()
        shown = page.evaluate("getComputedStyle(document.activeElement, '::after').content")
        assert shown == '"greedy(improved)"'
        assert "greedy(improved)" not in page.inner_text("section.lab .verdict")
        page.click("text=← Lab")
        page.wait_for_selector("text=/improved (passed|failed) the test|not decided/")
        row = page.locator("tbody tr", has=page.locator("th a:text-is('g1')"))
        assert "of its wins" in row.inner_text()


def test_nothing_speaks_of_the_command_line(browser: Any, server: LabServer) -> None:
    """Check that no view of the lab sends its user to the command line."""
    with opened(browser, f"{server.url}#/lab") as page:
        for where in PLACES:
            page.evaluate("where => (location.hash = `/${where}`)", where)
            view = "studies" if where == "studies" else "lab"
            page.wait_for_selector(f"section[data-view={view}] table >> visible=true")
            text = page.inner_text("main") + " ".join(page.locator("pre").all_text_contents())
            for words in ("--", "same command", "knightfall runs replay", "knightfall tournament"):
                assert words not in text, (where, words)


def test_a_run_that_failed_is_told_apart_until_dismissed(browser: Any, tmp_path: Path) -> None:
    with lab(tmp_path, "mine.py") as server, opened(browser, f"{server.url}#/lab") as page:
        begin(page, "match", a="python(mine.py:missing)")
        failed = page.locator("section:has(> h3:text-is('Could not be played')) .job")
        failed.wait_for()
        assert "defines no 'missing'" in failed.inner_text()
        playing = page.locator("section:has(> h3:text-is('Being played'))")
        assert "Nothing at the moment" in playing.inner_text()
        failed.locator("button:has-text('Dismiss')").click()
        failed.wait_for(state="detached")
        assert server.get("/api/state")["jobs"] == []


def test_what_is_written_of_the_page() -> None:
    for file in (PAGE / "lab").glob("*.js"):
        long = [line for line in file.read_text().splitlines() if len(line) > 120]
        assert long == [], file.name
    # The provider is set through the page's own interface; no function is replaced.
    assert not re.search(r"\bapp\.\w+ = ", (PAGE / "lab" / "opponents.js").read_text())


def test_a_grading_and_what_cannot_be_started(browser: Any, server: LabServer) -> None:
    with uncertain(browser, f"{server.url}#/lab") as page:
        begin(page, "match", a="id(other.py:x)")
        page.wait_for_selector(".start .bad:has-text('the files of this lab are slow.py')")
        page.click(".start summary")
        begin(page, "grading", agent="greedy(open)", openings="3", board="5x5")
        page.wait_for_url("**/#/lab/grading/*")
        page.wait_for_selector("caption:has-text('3 games against itself')")
        page.locator("table >> nth=1 >> th a").first.click()
        until_said(page, "won: ")


@pytest.mark.slow
def test_opponents_and_opinions_of_a_file_that_is_edited(browser: Any, tmp_path: Path) -> None:
    with lab(tmp_path, "mine.py") as server, uncertain(browser, server.url) as page:
        page.wait_for_selector(".face >> text=from your files", state="attached")
        page.click("#new")
        choose_opponent(page, "python(mine.py:choose)")
        page.select_option("select[name=seat]", "b")
        page.click("#start")
        page.wait_for_function("() => /moves=\\w+\\.\\w+\\.\\w+(&|$)/.test(location.hash)")
        address = page.evaluate("location.hash.slice(1)")
        first = re.search(r"moves=(\w+)\.(\w+)\.(\w+)", address)
        assert first
        position = Position.from_moves([first[1], first[2]])
        assert first[3] == position.legal_moves[0]
        page.click("#analyse")
        page.fill("#heuristic", "mine.py:cosy, open")
        page.press("#heuristic", "Enter")
        page.wait_for_function(
            "() => [...document.querySelectorAll('#board button')]"
            ".some((one) => /mine.py:cosy -?[\\d.]+.*open \\d+/.test(one.ariaLabel))"
        )
        (tmp_path / "mine.py").write_text(MINE.replace("cosy", "cosier") + "\n\nx = 1 / 0\n")
        page.click("nav >> text=Lab")
        page.wait_for_selector(".file .bad:has-text('mine.py, line 15: ZeroDivisionError')")
        (tmp_path / "mine.py").write_text(MINE.replace("cosy", "cosier"))
        page.wait_for_selector(".file code:text-is('mine.py:cosier')")
        options = page.locator("#heuristics option").evaluate_all("all => all.map(o => o.value)")
        assert [one for one in options if ".py" in one] == ["mine.py:cosier"]
