"""The checks of single values. Each says why a value looks like its attack, or None."""

import re
from base64 import b64decode
from collections.abc import Callable
from html.parser import HTMLParser
from ipaddress import ip_address
from typing import TypeAlias
from urllib.parse import urlsplit

from answerable.protection.waf import sql


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


Check: TypeAlias = Callable[[str], str | None]

_UP = re.compile(r"(?:^|[\\/;=:])\.{2,3}(?:[\\/;]|$)|\.\.;?[\\/]")
_FILES = re.compile(
    r"(?:^|[/\\])(?:etc[/\\](?:passwd|shadow|group|hosts|issue|fstab|crontab)|proc[/\\](?:self|\d+|version|cpuinfo)|"
    r"boot\.ini|win\.ini|web\.config|wp-config\.|\.(?:env|git|svn|hg|htaccess|htpasswd|ssh|aws|bash_history|npmrc|"
    r"dockerenv|kube|pgpass|netrc)(?:$|[/\s.~])|id_rsa|authorized_keys|WEB-INF|META-INF)|/etc/\w*[*?]",
    re.IGNORECASE,
)
_COMMANDS = (
    "cat|ls|id|whoami|uname|ifconfig|ipconfig|netstat|ps|pwd|wget|curl|nc|ncat|netcat|(?:ba|z|k|c|da)?sh|python[\\d.]*|perl|"
    "ruby|php|node|ping|nslookup|dig|rm|mv|chmod|chown|kill|touch|mkdir|find|grep|awk|sed|tail|head|tac|xxd|base64|tar|"
    "ssh|scp|telnet|gcc|env|printenv|echo|printf|tee|xargs|nohup|sudo|su|mount|dd|crontab|docker|kubectl|ansible[\\w-]*|"
    "timeout|strace|lsof|hostname|busybox|socat|openssl|cmd(?:\\.exe)?|powershell(?:\\.exe)?|pwsh|certutil|bitsadmin|"
    "regedit|gunzip|gzip|zip|unzip|screen|tmux|chef[\\w-]*|cscli|bsdtar|useradd|adduser|passwd|tasklist|taskkill|iwr|iex|invoke-\\w+|lwp-\\w+|mkfifo|shutdown|reboot"
)
_ARGUMENT = r"(?=$|\s*[;|&<>)`]|\s+[-+/$'\"\d]|\s+\S*[./]|\s+\w+\s*(?:$|[;|]))"
_RUNS = re.compile(
    rf"(?:[;|`\n]|&&|\$\(|[<>]\()\s*(?:(?:/usr)?(?:/local)?/s?bin/)?(?:{_COMMANDS}){_ARGUMENT}", re.IGNORECASE
)
_SHELL = re.compile(
    rf"\$\((?:{_COMMANDS})\b|`\s*(?:{_COMMANDS})\b[^`]*`|\$\{{?IFS|/dev/(?:tcp|udp)/|\(\)\s*\{{\s*:|:\(\)\s*\{{|"
    rf"^(?:/usr)?(?:/local)?/s?bin/\w+|\|\s*(?:ba|z|k|da)?sh\b|^\s*(?:{_COMMANDS})\s+(?:-{{1,2}}\w|/\w|https?:)|"
    r"%comspec%|\bcmd\s*/c\b",
    re.IGNORECASE,
)
_GAP = r"(?:''|\"\"|\$@|\$\*|\\)"
_BROKEN_UP = re.compile(rf"\b[a-z]{{1,6}}{_GAP}[a-z]{{1,6}}(?:{_GAP}[a-z]*){{0,20}}[\s+/]+/", re.IGNORECASE)
_SCHEMES = _set(
    "compress.bzip2 compress.zlib ssh2.shell ssh2.exec ssh2.tunnel ssh2.sftp ssh2.scp file gopher dict ldap ldaps "
    "tftp sftp php phar zlib zip rar glob expect ogg jar netdoc rmi jndi view-source"
)
_INTERNAL = re.compile(
    r"^(?:localhost|metadata(?:\.google\.internal)?|host\.docker\.internal|kubernetes\.default.*|.*\.svc\.cluster\.local|"
    r".*\.(?:nip|xip|sslip)\.io|.*\.localtest\.me|.*\.internal)$",
    re.IGNORECASE,
)
_HANDLER = re.compile(r"\bon[a-z]{3,20}\s*=\s*[\"'`\w(/\\\[]", re.IGNORECASE)
_SCRIPT_URL = re.compile(r"(?:java|vb)\s*script\s*:\s*[^\s\w]|(?:java|vb)script:\w+\s*\(|data:text/html", re.IGNORECASE)
_SCRIPT_CODE = re.compile(
    r"\b(?:alert|confirm|prompt|eval|setTimeout|atob)\s*\??\.?(?:/\*.*?\*/)?\s*[(`]|\bdocument\s*\??[.\[]|"
    r"\bwindow\s*[\[.]\s*['\"]?\w+['\"]?\s*[\](=]|\.(?:cookie|innerHTML|fromCharCode)\b|\b(?:self|top|this|parent)\s*"
    r"(?:/\*.*?\*/|\s)*\[|__proto__|constructor\s*[.\[]\s*prototype|constructor\.constructor|child_process|"
    r"\brequire\s*\(\s*['\"]|process\.(?:env|mainModule|binding)",
    re.IGNORECASE | re.DOTALL,
)
_ACTIVE = _set(
    "script iframe frame frameset object embed applet svg math meta link style base form input button textarea "
    "img image video audio source body isindex marquee bgsound layer template details keygen animate set "
    "foreignobject a"
)
_CODE = re.compile(
    r"<\?(?:php|=)|<\?\s|\$_(?:GET|POST|REQUEST|SERVER|COOKIE|FILES|ENV|SESSION)\b|\$GLOBALS\b|"
    r"\b(?:system|exec|shell_exec|passthru|popen|proc_open|phpinfo|assert|base64_decode|file_get_contents|fopen|"
    r"include|include_once|require_once|unserialize|call_user_func\w*|create_function|preg_replace|str_rot13|strrev|"
    r"gzinflate|move_uploaded_file|eval)\s*(?:/\*.*?\*/|//[^\n]*\n|\s)*\(\s*[\"'$\w)]|O:\d+:\"|"
    r"\bjavax?\.\w+\.\w+|\.getRuntime\b|\bProcessBuilder\b|\$\{?\s*(?:jndi|\$\{)|jndi:(?:ldap|rmi|dns)|rO0AB|"
    r"\$+\w+\s*(?:\[[^\]]*\]|\{[^}]*\}|/\*.*?\*/|\s)*\(\s*[\w'\"$]|[\"')\]]\s*(?:/\*.*?\*/|\s)*\(\s*['\"\w]+\s*\)\s*;|KztAAU|Cs7QAF|"
    r"\b(?:auto_(?:ap|pre)pend_file|allow_url_(?:include|fopen)|disable_functions|open_basedir|extension_dir|opcache\.\w+|"
    r"session\.\w+|include_path)\s*=|(?:clone|instantiate|invoker|chained)transformer|xmldecoder|#_memberAccess|class\.module\.classLoader",
    re.IGNORECASE | re.DOTALL,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,4000}")
_GADGET = re.compile(
    r"rocessbuilde|(?:clone|instantiate|invoker|chained|constant)transforme|loneFactor|clonefactor|serializationfactor|"
    r"(?:for|while)closur|instantiatefactor|getRuntim|java\.lang|<script|/etc/passwd|untim[e]?\b",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\{\{[^{}]*[*.(\[|][^{}]*\}\}|\{%[^%]*%\}|#\{[^{}]*[*.(][^{}]*\}|<%[=@!]?[^%]*%>|\$\{[^{}]*[*.(:][^{}]*\}|"
    r"[@*]\{[^{}]*[(.][^{}]*\}",
    re.DOTALL,
)
_NOSQL = re.compile(
    r"^\$(?:eq|ne|gte?|lte?|nin|and|or|not|nor|exists|regex|where|elemMatch|expr|jsonSchema|function)$|"
    r"\[\s*\$\w+\s*\]|['\"]\s*,?\s*\$(?:ne|gt|lt|where|regex|exists|or|and)\b|\$where\b|['\"]\s*\|\|\s*['\"\d]"
)
_LDAP = re.compile(r"\*\)\s*\(|\)\s*\(\s*[|&!]|\)\(\w+[~<>]?=|^\(?[|&]\(\w+=|:\d+(?:\.\d+)+:=")
_LINES = re.compile(
    r"[\r\n]+\s*(?:(?:set-cookie|location|content-(?:type|length)|x-[\w-]+|host|from|to|cc|bcc|subject)\s*:|http/\d|"
    r"(?:get|post|head|put|delete|options|trace|connect)\s+\S+\s+http/|(?:quit|data|helo|ehlo|rset|noop)\s*$|"
    r"(?:mail from|rcpt to)\s*:|\w{1,5}\d{1,4} (?:capability|fetch|status|select|append|examine|logout|login)\b)|"
    r"^(?:get|post|head|put|delete)\s+\S+\s+http/\d",
    re.IGNORECASE,
)
_XML = re.compile(
    r"<!(?:doctype|entity|element)\b[^>]*(?:\[|system|public|%)|<!entity\b|<xi:include|"
    r"<!--\s*#\s*(?:exec|include|echo|config)|\+ADw[A-Z]",
    re.IGNORECASE,
)


def traversal(text: str) -> str | None:
    if _UP.search(text):
        return "leads out of its folder"
    found = _FILES.search(text)
    return f"names {found[0].strip('/')}" if found else None


def command(text: str) -> str | None:
    found = _RUNS.search(text) or _SHELL.search(text) or _BROKEN_UP.search(text)
    return f"runs {found[0].strip()[:40]}" if found else None


def foreign_host(text: str) -> str | None:
    """A URL that leads to the server's own network, or with a scheme that reads files."""
    scheme, colon, rest = text.strip().partition(":")
    if colon and scheme.lower().removeprefix("url:") in _SCHEMES and rest.startswith("/"):
        return f"a URL of the scheme {scheme.lower()}"
    try:
        host = urlsplit(text.strip()).hostname or "" if "://" in text else text.strip().partition("/")[0]
    except ValueError:
        return "a URL that cannot be read"
    if "://" not in text and not (text.strip().endswith("/") or "/" in text):
        return None
    return f"leads to {host[:60]}" if _INTERNAL.match(host) or _is_inside(host) else None


def _is_inside(host: str) -> bool:
    try:
        is_number = re.fullmatch(r"0x[0-9a-f]{8}|\d{8,10}", host, re.IGNORECASE)
        address = ip_address(int(host, 0)) if is_number else ip_address(host)
    except ValueError:
        return False
    return not address.is_global


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        handler = next((name for name, _ in attrs if name.startswith("on") and len(name) > 4), None)
        if tag in _ACTIVE or handler:
            self.found = self.found or (f"a tag {tag} with {handler}" if handler else f"a tag {tag}")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "title", "textarea"):
            self.found = self.found or f"the end of {tag}"


def script(text: str) -> str | None:
    """The markup is parsed as a browser would, also if it ends in the middle of a tag."""
    if "<" in text:
        tags = _Tags()
        tags.feed(text + ">" if text.count("<") > text.count(">") else text)
        if tags.found:
            return tags.found
    if _HANDLER.search(text) and re.search(r"[\"'`/>(]", text):
        return "an event handler"
    found = _SCRIPT_URL.search(text) or _SCRIPT_CODE.search(text)
    return f"code: {found[0][:40]}" if found else None


def hidden_code(text: str) -> str | None:
    """Names of classes that run code when they are read, also inside of Base64 that began somewhere before."""
    for token in _BASE64.findall(text):
        for start in range(4):
            part = token[start:].replace("-", "+").replace("_", "/")
            inside = b64decode(part[: len(part) // 4 * 4]).decode("latin-1")
            if (found := _GADGET.search(inside)) is not None:
                return f"hides {found[0]}"
    return None


def _matched(pattern: re.Pattern[str], what: str) -> Check:
    def check(text: str) -> str | None:
        found = pattern.search(text)
        return f"{what}: {found[0].strip()[:40]}" if found else None

    return check


CHECKS: tuple[tuple[str, int, Check], ...] = (
    ("sql", 5, sql.finding),
    ("script", 5, script),
    ("traversal", 5, traversal),
    ("command", 5, command),
    ("ssrf", 5, foreign_host),
    ("xml", 5, _matched(_XML, "declares")),
    ("template", 5, _matched(_TEMPLATE, "a template")),
    ("code", 5, _matched(_CODE, "code")),
    ("code", 5, hidden_code),
    ("nosql", 5, _matched(_NOSQL, "an operator")),
    ("ldap", 5, _matched(_LDAP, "a filter")),
    ("lines", 5, _matched(_LINES, "another line")),
)
"""Name, points, check."""
