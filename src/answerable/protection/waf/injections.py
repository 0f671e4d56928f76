"""Pieces of other languages in a value: LDAP, operators of MongoDB and of mappers, lines of protocols, XML."""

import re

_NOSQL = re.compile(
    r"(?:^|\[\s*|['\"{,]\s*)\$(?:eq|ne|gte?|lte?|n?in|and|or|not|nor|exists|regex|where|elemMatch|expr|"
    r"jsonSchema|function|type|mod|"
    r"text|all|size|slice|bits\w+|comment|rand|geo\w+|near\w*|natural|accumulator|lookup|group|project|match|"
    r"unwind|merge|out|"
    r"set|unset|inc|push|pull|rename)(?![\w])|\$where\b|['\"]\s*\|\|\s*['\"\d]|\bthis\.\w+\s*(?:==|!=|\.match)|"
    r"\b(?:db|collection)\.\w+\.(?:find|drop|insert|update|remove|aggregate)\b|;\s*return\b.{0,40}[=;]|"
    r"\b__(?:schema|type)\s*[{(]",
    re.IGNORECASE,
)
_MAPPER = re.compile(
    r"^\w+?__\w+?__(?:\w+__)*(?:i?(?:exact|contains|startswith|endswith|regex)|gte?|lte?|in|isnull|range|date|"
    r"year|has_(?:any_)?keys?|search)$"
)
_LDAP = re.compile(
    r"\*\)\s*[!&|]*\(|\*\s*\(\s*[|&!]\s*\(|\)\s*[|&!]\s*\(|\)\s*\(\s*[|&!]\s*\(?\w*=?|\)\(\w+[~<>]?=|^\(?\s*[|"
    r"&!]\s*\(\w+=\*|\w\)\s*[!&|]\s*\(\w+\s*=|\*\)\)%00",
)
_LINES = re.compile(
    r"[\r\n]\s{0,8}(?:(?:set-cookie2?|location|refresh|content-(?:type|length|disposition|encoding)|"
    r"transfer-encoding|x-[\w-]+|host|"
    r"from|to|cc|bcc|subject|reply-to|mime-version)\s*:|http/\d|"
    r"(?:get|post|head|put|delete|options|trace|connect|patch|propfind|mkcol|copy|move|lock|unlock)\s+\S+\s+http/|"
    r"(?:quit|data|helo|ehlo|rset|noop|expn|vrfy|starttls|turn|auth)\b(?!\s+\w+\s+\w+)|help\s+\w+\s*$|"
    r"(?:mail from|rcpt to|send from|soml from|saml from)\s*:|"
    r"(?:user|pass|list|retr|dele|uidl|top|stat|apop)\s+\S+\s*$|"
    r"\w{1,5}\d{1,4} (?:capability|fetch|status|select|append|examine|logout|login|authenticate|uid|store|"
    r"search|copy|create|delete|rename|"
    r"subscribe|unsubscribe|list|lsub|check|close|expunge|noop|starttls)\b)|"
    r"^(?:get|post|head|put|delete|trace|connect)\s+\S+\s+http/\d|\bhttp/\d\.\d\s+\d{3}|<meta\s+http-equiv",
    re.IGNORECASE,
)
_XML = re.compile(
    r"<!(?:doctype|entity|element|attlist|notation)\b[^>]*(?:\[|system|public|%|#)|"
    r"!entity\s+%?\s*\w+\s+(?:system|public|['\"])|<!entity\b|\bxmlns(?::\w+)?\s*=|schemaLocation\s*=|"
    r"<xi:include|xinclude|<\?xml-stylesheet|"
    r"<!--\s*#\s*(?:exec|include|echo|config|fsize|flastmod|printenv|set|if)|(?:^|[+\s])AD[wx4]-|\+AD[wx4]|\bxsl:(?:value-of|import|"
    r"include)|document\s*\(\s*['\"]",
    re.IGNORECASE,
)


def nosql(text: str) -> str | None:
    return _finding(_NOSQL.search(text) or _MAPPER.search(text), "an operator")


def ldap(text: str) -> str | None:
    return _finding(_LDAP.search(text), "a filter")


def lines(text: str) -> str | None:
    return _finding(_LINES.search(text), "another line")


def xml(text: str) -> str | None:
    return _finding(_XML.search(text), "declares")


def _finding(found: re.Match[str] | None, what: str) -> str | None:
    return f"{what}: {found[0].strip()[:40]}" if found else None
