"""Markup and scripts in a value, read as a browser would read them."""

import re
from html.parser import HTMLParser

from answerable.protection.waf.words import words

_HANDLER = re.compile(r"\bon[a-z]{3,20}\s*=\s*[\"'`\w(/\\\[]", re.IGNORECASE)
_SCRIPT_URL = re.compile(
    r"(?:java|vb|live)\s*script\s*:(?=\S)|data\s*:\s*(?:text/(?:html|xml|javascript)|image/svg|[;,]\s*<?|,\s*<)|"
    r"-moz-binding|"
    r"\bexpression\s*\(|behaviou?r\s*:\s*url|@import\b|url\s*\(\s*['\"]?\s*(?:java|data)|mocha:|feed:",
    re.IGNORECASE,
)
_SCRIPT_CODE = re.compile(
    r"\b(?:alert|confirm|prompt|eval|set(?:timeout|interval|immediate)|atob|btoa|fetch|execScript|import|"
    r"unescape|decodeURI(?:Component)?|"
    r"String\.fromCharCode|XMLHttpRequest|postMessage|importScripts)\s*\??\.?\s*[(`]|"
    r"\bnew\s+(?:function|XMLHttpRequest|ActiveXObject|Image|Worker)\b|\b(?:function|\w)\s*\(\s*\w*\s*\)\s*(?:\{|=>)|"
    r"\b(?:document|window)\s*\)?\s*\??(?:\[|\.\s*(?:cookie|write|domain|location|body|forms|images|getElement|"
    r"query|create|open|eval|name|on\w+|local|session|URL|referrer|title|\$))|"
    r"\.\s*(?:cookie|innerHTML|outerHTML|fromCharCode|parentNode|localStorage|sessionStorage|constructor)\b|"
    r"\b(?:self|top|this|parent|globalThis|frames)\s*\[|__proto__|constructor\W{1,3}prototype|\[\s*['\"]?constructor|"
    r"constructor\.constructor|\bimport\s*\{[^}]*\}\s*from\b|\bexport\s+default\b|"
    r"child_process|\brequire\s*\(\s*['\"]|\brequire\.main\b|\bprocess\s*\.\s*(?:env|mainModule|binding|exit|kill)|"
    r"\b(?:fs|global)\.(?:read|write|append|process)|\bmodule\.(?:exports|constructor)|_load\s*\(|spawnSync|execSync|"
    r"(?=[^\w\s]*[!+])(?=[^\w\s]*\[)[\[\]()!+]{8,}|(?:\]|\bReflect|\bArray|\bFunction)\s*\.\s*[\w.]{2,40}\s*`|"
    r"\]\s*\.\s*(?:map|sort|find\w*|filter|some|every|forEach|reduce\w*|flatMap)\s*\(\s*\w|"
    r"(?:\[\s*\]|!\s*\[\s*\]|\+\s*\[)(?:\s*\+\s*[\[({!]){1,}|\bwith\s*\(\s*\w+\s*\)|\blocation\s*(?:=|\.(?:href|"
    r"hash|replace))",
    re.IGNORECASE | re.DOTALL,
)
_ACTIVE = words(
    "script iframe frame frameset object embed applet svg math meta link style base form input button textarea img "
    "image video audio source body html head title isindex marquee bgsound layer ilayer xml template details keygen "
    "animate set foreignobject a import x plaintext listing noscript param blink select option optgroup dialog portal "
    "slot canvas area map picture track"
)
_BROKEN_TAG = re.compile(
    r"<\W{0,8}(?:[a-z]\W{0,3}:)?\s*(?:s\W?c\W?r\W?i\W?p\W?t|iframe|object|embed|applet|svg|meta|link|style|base|"
    r"form|img|body|"
    r"import|importimplementation|isindex|vmlframe|\?import|!entity|!\[cdata)|(?:^|\s)-->|<!--|\]\]>|"
    r"\xbc/?[a-z]+[^\xbe]{0,40}\xbe",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        handler = next((name for name, _ in attrs if name.startswith("on") and len(name) > 4), None)
        if tag.rpartition(":")[2] in _ACTIVE or handler:
            self.found = self.found or (f"a tag {tag} with {handler}" if handler else f"a tag {tag}")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style", "title", "textarea", "svg", "math", "iframe", "body", "html"):
            self.found = self.found or f"the end of {tag}"


def finding(text: str) -> str | None:
    """Markup counts also if it ends in the middle of a tag."""
    if "<" in text:
        tags = _Tags()
        tags.feed(text + ">" if text.count("<") > text.count(">") else text)
        if tags.found:
            return tags.found
    bare = _COMMENT.sub("", text).replace("\x00", "")
    if _HANDLER.search(bare) and re.search(r"[\"'`/>(]", bare):
        return "an event handler"
    found = _BROKEN_TAG.search(bare) or _SCRIPT_URL.search(bare) or _SCRIPT_CODE.search(bare)
    return f"code: {found[0].strip()[:40]}" if found else None
