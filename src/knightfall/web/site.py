"""Write the page as files that any web host can serve, or as one file that needs no server."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

from knightfall.errors import KnightfallError
from knightfall.user_folders import atomic_write, make_folder
from knightfall.web.engine import ABOUT, ENGINE

HERE = Path(__file__).parent
PAGE = HERE / "page"
ATLAS = HERE.parent / "solver" / "atlas.json"
LADDER = HERE / "ladder.json"
PUZZLES = HERE / "puzzles.json"

POLICY = (
    "default-src 'none'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; "
)
"""Start of the page's content security policy: nothing is loaded from other sites."""


def files() -> dict[str, bytes]:
    """Return every file of the site by its path, without those that only the lab serves."""
    paths = [path for path in sorted(PAGE.rglob("*")) if path.is_file()]
    found = {path.relative_to(PAGE).as_posix(): path.read_bytes() for path in paths}
    found = {name: content for name, content in found.items() if not name.startswith("lab/")}
    for name in found:
        if name.endswith(".js"):
            found[name] = _without_comments(found[name].decode()).encode()
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
    """Write the site into a folder, leaving its other files alone; return the paths written."""
    make_folder(folder)
    written = []
    for name, content in files().items():
        try:
            (folder / name).parent.mkdir(exist_ok=True)
            atomic_write(folder / name, content)
        except OSError as error:
            raise KnightfallError(f"{folder / name}: {error.strerror or error}") from None
        written.append(folder / name)
    return written


def single_file() -> str:
    """Return the whole site as one HTML page, which can be opened from disk."""
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    preview = base64.b64encode((PAGE / "preview.png").read_bytes()).decode()
    script = _script()
    seen = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = POLICY.replace("connect-src 'self'", "connect-src data:") + (
        f"script-src 'sha256-{seen}' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; "
        "worker-src blob:"
    )
    replaced = {
        '<link rel="stylesheet" href="style.css">': f"<style>\n{style}</style>",
        '<script type="module" src="start.js"></script>': (
            f'<script type="module">{script}</script>'
        ),
        'content="preview.png"': f'content="data:image/png;base64,{preview}"',
    }
    for tag, content in replaced.items():
        assert tag in page
        page = page.replace(tag, content)
    return _with_policy(page, policy)


def _script() -> str:
    """Return all modules as one script, including the data that they would otherwise fetch."""
    puzzles = json.loads(PUZZLES.read_text("utf-8"))
    return f"""
{bundle(PAGE / "page.js", puzzles=puzzles)}
const {{ Page }} = web_page_page;
const part = async (name) => parts[name];
globalThis.knightfall = new Page({{ ...await unpacked(), ladder: parts.ladder, part }});
await globalThis.knightfall.begin();
"""


def bundle(entry: Path, **more: object) -> str:
    """Return a module, all that it imports and the engine as one script that fetches nothing.

    The exports of `entry` are in a constant named after its path in the package.  `unpacked()`
    returns a promise of what `Engine` needs; `parts` has the atlas, the ladder and `more`.
    """
    worker = (PAGE / "worker.js").read_text(encoding="utf-8")
    wasm = base64.b64encode(gzip.compress(ENGINE.read_bytes(), 9, mtime=0)).decode()
    read = {"about": ABOUT, "atlas": ATLAS, "ladder": LADDER}
    parts = {name: json.loads(path.read_text("utf-8")) for name, path in read.items()}
    parts |= {"worker": _without_comments(worker), "wasm": wasm, **more}
    # A literal </script> in the data would end the script.
    data = json.dumps(parts, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f"""
{_modules(entry)}
const parts = {data};
const unpacked = async () => {{
const packed = Uint8Array.from(atob(parts.wasm), (letter) => letter.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const wasm = await new Response(stream).arrayBuffer();
const worker = URL.createObjectURL(new Blob([parts.worker], {{ type: "text/javascript" }}));
return {{ worker, load: {{ wasm, about: parts.about, atlas: parts.atlas }} }};
}};
"""


IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]*)";\n', flags=re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", flags=re.M)


def _modules(entry: Path) -> str:
    """Return a module and all that it imports as one script.

    Each module becomes a function that is called once and returns the module's exports.  Every
    module comes after those that it imports.
    """
    done: dict[str, str] = {}

    def add(path: Path) -> str:
        name = path.relative_to(HERE.parent).with_suffix("").as_posix().replace("/", "_")
        if name in done:
            return name
        text = path.read_text(encoding="utf-8")
        scope = []
        for names, source in IMPORT.findall(text):
            scope.append(f"const {{{names}}} = {add((path.parent / source).resolve())};")
        exported = ", ".join(EXPORT.findall(text))
        body = _without_comments(EXPORT.sub("", IMPORT.sub("", text)))
        done[name] = "\n".join(
            [f"const {name} = (() => {{", *scope, body, f"return {{ {exported} }};", "})();"]
        )
        return name

    add(entry.resolve())
    return "\n".join(done.values())


def _without_comments(text: str) -> str:
    """Return a script without full-line comments and without indentation.

    Removing indentation is safe, because no template literal of the page spans several lines.
    """
    text = re.sub(r"^\s*/\*\*(?:[^*]|\*(?!/))*\*/\n", "", text, flags=re.M)
    return re.sub(r"^\s+|^\s*//.*\n", "", text, flags=re.M)


def _small(path: Path) -> bytes:
    value = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _with_policy(page: str, policy: str) -> str:
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{tag}', 1)
