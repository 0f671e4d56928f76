"""Requests whose form is wrong: methods, headers, encodings, parts, and pairs that change how they are read."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit

from answerable.protection.waf.findings import Finding, violation
from answerable.protection.waf.places import is_path_to_elsewhere
from answerable.protection.waf.request_values import LONGEST_VALUE
from answerable.protection.waf.words import words

_METHODS = words("GET HEAD POST PUT PATCH DELETE OPTIONS")
_SCANNERS = re.compile(
    r"nikto|sqlmap|nessus|openvas|acunetix|netsparker|w3af|masscan|zgrab|dirbuster|gobuster|wpscan|havij|"
    r"arachni|skipfish|"
    r"jorgee|nuclei|wfuzz|\bffuf\b|fuzz faster|commix|whatweb|webinspect|fimap|joomscan|zmeu|feroxbuster|\.nasl\b|"
    r"absinthe|bsqlbf|burp|core-project|crowdstrike|dav\.pm|davtest|domino hunter|dotdotpwn|grendel|httprint|"
    r"morfeus|mysqloit|n-stealth|nmap|nsauditor|paros|pangolin|pmafind|qualys|sqlninja|springenwerk|sysscan|"
    r"toata|uil2pn|"
    r"vega/|voideye|webshag|webtrends security|whisker|xenu|zaproxy|zap/|censys|detectify|dirsearch|rustbuster|"
    r"struts-pwn|"
    r"l9explore|odin|cgichk|evilscanner|pangolin|internet-measurement",
    re.IGNORECASE,
)
_UNWELCOME_HEADERS = words(
    "x-http-method-override x-http-method x-method-override proxy content-encoding lock-token content-range if "
    "x-middleware-subrequest x-original-url x-rewrite-url x-forwarded-scheme"
)
_UPLOAD_NAMES = words("x-filename x_filename x-file-name x_file-name")
_RUNNABLE = re.compile(
    r"\.\s*(?:php\d?|phar|phtml|jspx?|aspx?)\s*\.\s*\w+$|\.\s*(?:php\d?|phtml|phar|pht|phps|jspx?|jspf|asp|aspx|"
    r"ashx|asmx|cer|cgi|pl|py|rb|sh|exe|dll|bat|cmd|ps1|htaccess|user\.ini|shtml|war)[\s.]*$",
    re.IGNORECASE,
)
_SESSION = re.compile(
    r"sess(?:ion)?(?:[_.:-]?(?:id|token|key))?$|^(?:cf(?:id|token|sid)|sid|.*[._:-]sid|cakephp|.*_login_token|"
    r"shiny-token|connect\.sid)$|"
    r"^(?:jw|jserv|weblogic)session|session-token$|^koa[.:]sess",
    re.IGNORECASE,
)
_PART_NAME = re.compile(r"\b(?:file)?name=\"[^\"\n]*?(?:[;'\\]|=(?!\.))", re.IGNORECASE)
_ENTITY = re.compile(r"&#?\w{2,10};")
_PART_HEADER = re.compile(
    r"content-transfer-encoding\s*:|content-type\s*:[^\n]*charset\s*=\s*[\"']?(?!utf-8|iso-8859-1|us-ascii)[\w-]+",
    re.IGNORECASE,
)
_CHARSETS = words("utf-8 iso-8859-1 iso-8859-15 windows-1252 us-ascii")
_ILL_MEDIA_TYPE = re.compile(r"[;\s]\s*(?:boundary\s*=\s*[\"']?\w+/|\w+/\w+)", re.IGNORECASE)
_OVERRIDE = re.compile(r"^(?:[A-Z]{3,10}|(?i:put|patch|delete|head|options|trace|connect))$")
MOST_PAIRS = 255
LONGEST_NAME = 100


def of_head(method: str, target: str, headers: Mapping[str, str]) -> Iterator[Finding]:
    path, _, query = target.partition("?")
    if method not in _METHODS:
        yield violation("method", "method", "a method that no route has")
    if _SCANNERS.search(headers.get("user-agent", "")):
        yield violation("scanner", "user-agent", "a scanner")
    for name in _UNWELCOME_HEADERS & headers.keys():
        yield violation("head", name, "a header that changes how the request is read")
    for name in _UPLOAD_NAMES & headers.keys():
        if _RUNNABLE.search(headers[name]):
            yield violation("upload", name, "a file that a server would run")
    if any("\x00" in value or "%00" in value for value in headers.values()):
        yield violation("bytes", "headers", "a zero byte")
    yield from _of_lists(headers)
    yield from _of_target(path, query)


def _of_target(path: str, query: str) -> Iterator[Finding]:
    for place, text in (("path", path), ("query", query)):
        if _is_ill_encoded(text):
            yield violation("bytes", place, "bytes that are no text")
    if re.search(r"%0[ad0]", path, re.IGNORECASE) or re.search(
        r"%0[ad](?:%0|=|\w)", query.partition("=")[0], re.IGNORECASE
    ):
        yield violation("lines", "path", "a line end where none belongs")
    if len(re.findall(r"%25[0-9a-f]{2}", query, re.IGNORECASE)) > 2:
        yield violation("bytes", "query", "encoded twice")
    if re.search(r"\.\w+~(?:/|$)", path):
        yield violation("traversal", "path", "a copy that an editor left")
    if is_path_to_elsewhere(path) and not path.startswith("http"):
        yield violation("ssrf", "path", "a URL in the path")


def _of_lists(headers: Mapping[str, str]) -> Iterator[Finding]:
    """Headers that hold lists, with members that contradict or repeat each other."""
    connection = [each.strip().lower() for each in headers.get("connection", "").split(",") if each.strip()]
    if len(connection) > len(set(connection)) or {"keep-alive", "close"} <= set(connection):
        yield violation("head", "connection", "members that contradict each other")
    spans = re.findall(r"(\d+)-(\d*)", headers.get("range", ""))
    if len(spans) > 5 or any(end and int(end) < int(start) for start, end in spans):
        yield violation("head", "range", "ranges that nobody needs")
    media_type = headers.get("content-type", "")
    charsets = re.findall(r"charset\s*=\s*[\"']?([\w-]+)", media_type.lower())
    if len(charsets) > 1 or any(each not in _CHARSETS for each in charsets):
        yield violation("head", "content-type", "a charset that nobody expects")
    first, _, parameters = media_type.partition(";")
    if _ILL_MEDIA_TYPE.search(parameters) or "," in first or ("boundary" in parameters and "multipart" not in first):
        yield violation("head", "content-type", "two media types")
    length = headers.get("content-length", "0")
    if not length.isdigit() or ("transfer-encoding" in headers and "content-length" in headers):
        yield violation("smuggling", "content-length", "a length that two servers would read differently")


def _is_ill_encoded(text: str) -> bool:
    if re.search(r"%c[01]%?|%f[5-9a-f]%|%u(?:ff|00)[0-9a-f]{2}|%00|%25(?:25|$)", text, re.IGNORECASE):
        return True
    if re.search(r"%(?![0-9a-f]{2}|u[0-9a-f]{4})", text, re.IGNORECASE):
        return True
    values = (pair.partition("=")[2] or pair for pair in text.split("&"))
    return any(not _is_text(unquote_to_bytes(value)) for value in values if "%" in value)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def of_pairs(target: str, headers: Mapping[str, str], body: bytes) -> Iterator[Finding]:
    media_type = headers.get("content-type", "").lower()
    text = body[:LONGEST_VALUE].decode("utf-8", "replace")
    in_body = "json" not in media_type and "multipart" not in media_type and "xml" not in media_type
    written = target.partition("?")[2] + (f"&{text}" if in_body and text else "")
    pairs = parse_qsl(written[:LONGEST_VALUE], keep_blank_values=True, max_num_fields=None)
    if len(pairs) > MOST_PAIRS or any(
        len(name) > LONGEST_NAME and "=" in written for name, _ in pairs if " " not in name
    ):
        yield violation("pairs", "query", "more or longer names than a form has")
    if any(name == "_method" and _OVERRIDE.match(value) for name, value in pairs):
        yield violation("method", "_method", "another method than the request has")
    names = [name for name, _ in pairs] + (re.findall(r'"([\w.-]+)"\s*:', text) if "json" in media_type else [])
    if any(_SESSION.search(name) for name in names) and _comes_from_elsewhere(headers):
        yield violation("session", "referer", "a session that another site chose")
    if "multipart/" in media_type:
        yield from _of_parts(text)


def _of_parts(text: str) -> Iterator[Finding]:
    if _PART_NAME.search(_ENTITY.sub("", text)):
        yield violation("multipart", "name", "a name with a sign that ends it")
    if _PART_HEADER.search(text):
        yield violation("multipart", "headers", "an encoding of its own")
    if any(_RUNNABLE.search(name) for name in re.findall(r'filename="([^"\r\n]*)"', text)):
        yield violation("upload", "filename", "a file that a server would run")


def _comes_from_elsewhere(headers: Mapping[str, str]) -> bool:
    origin = urlsplit(headers.get("referer", "")).hostname
    own = urlsplit(f"//{headers.get('host', '')}").hostname
    return bool(origin) and _site(origin) != _site(own)


def _site(host: str | None) -> str:
    return ".".join((host or "").split(".")[-2:])
