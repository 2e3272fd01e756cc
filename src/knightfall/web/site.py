"""The page as files that any web host can serve, or as one file that needs no host at all."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

from knightfall.errors import KnightfallError
from knightfall.files import atomic_write, make_folder
from knightfall.web.engine.build import ABOUT, ENGINE
from knightfall.web.ladder import FILE as LADDER

HERE = Path(__file__).parent
PAGE = HERE / "page"
ATLAS = HERE.parent / "solver" / "atlas.json"
PUZZLES = HERE / "puzzles.json"

MODULES = (
    "dom", "words", "notation", "agents", "engine", "board", "tree", "graph", "marks", "layers",
    "settings", "faces", "strips", "ending", "lesson", "preview", "exchange", "analysis", "views",
    "puzzles", "atlas", "main",
)  # fmt: skip
"""The page's modules, each after those that it imports."""

POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; "
)
"""What the page may do: nothing that is not its own."""


def files() -> dict[str, bytes]:
    """Every file of the site by its name."""
    found = {path.name: path.read_bytes() for path in sorted(PAGE.iterdir()) if path.is_file()}
    policy = POLICY + (
        "script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; worker-src 'self'"
    )
    found["index.html"] = _with_policy(found["index.html"].decode(), policy).encode()
    return {
        **found,
        ENGINE.name: ENGINE.read_bytes(),
        ABOUT.name: _small(ABOUT),
        ATLAS.name: _small(ATLAS),
        LADDER.name: _small(LADDER),
        PUZZLES.name: _small(PUZZLES),
    }


def write_site(folder: Path) -> list[Path]:
    """Write the site into a folder; its other files are left alone."""
    make_folder(folder)
    written = []
    for name, content in files().items():
        try:
            atomic_write(folder / name, content)
        except OSError as error:
            raise KnightfallError(f"{folder / name}: {error.strerror or error}") from None
        written.append(folder / name)
    return written


def single_file() -> str:
    """The whole site in one page, which also works from a disk."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    script = _script()
    seen = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = POLICY.replace("connect-src 'self'", "connect-src data:") + (
        f"script-src 'sha256-{seen}' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; "
        "worker-src blob:"
    )
    page = page.replace('<link rel="stylesheet" href="style.css">', f"<style>\n{style}</style>")
    page = page.replace(
        '<script type="module" src="start.js"></script>', f'<script type="module">{script}</script>'
    )
    return _with_policy(page, policy)


def _script() -> str:
    """All modules as one, and what they would have fetched."""
    code = "\n".join(_inlined((PAGE / f"{name}.js").read_text("utf-8")) for name in MODULES)
    worker = (PAGE / "worker.js").read_text(encoding="utf-8")
    wasm = base64.b64encode(gzip.compress(ENGINE.read_bytes(), 9, mtime=0)).decode()
    read = {"about": ABOUT, "atlas": ATLAS, "ladder": LADDER, "puzzles": PUZZLES}
    parts = {name: json.loads(path.read_text("utf-8")) for name, path in read.items()}
    parts |= {"worker": worker, "wasm": wasm}
    # </script> would end the script wherever it stands.
    data = json.dumps(parts, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f"""
{code}
const parts = {data};
const packed = Uint8Array.from(atob(parts.wasm), (letter) => letter.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const wasm = await new Response(stream).arrayBuffer();
const worker = URL.createObjectURL(new Blob([parts.worker], {{ type: "text/javascript" }}));
const load = {{ wasm, about: parts.about, atlas: parts.atlas }};
const part = async (name) => parts[name];
globalThis.knightfall = new App({{ worker, load, ladder: parts.ladder, part }});
await globalThis.knightfall.begin();
"""


def _inlined(text: str) -> str:
    """A module without its imports and exports."""
    text = re.sub(r"^import [^;]*;\n", "", text, flags=re.M)
    return re.sub(r"^export (?=class|const|function|async)", "", text, flags=re.M)


def _small(path: Path) -> bytes:
    value = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _with_policy(page: str, policy: str) -> str:
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{tag}', 1)
