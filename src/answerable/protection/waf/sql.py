"""SQL in a value. The value is read as tokens, as it stands and behind each quote that could end the string it is put
into; a few tokens in the order of an injection are a finding."""

import re
from collections.abc import Iterator


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LOGIC = _set("and or xor not && || div mod like rlike regexp glob is between")
_KEYWORDS = _set(
    "select insert update delete drop create alter truncate merge replace from where having group order by into "
    "values set table database union intersect except exec execute declare case when then else limit offset join "
    "in null exists procedure waitfor shutdown grant collate notnull isnull true false"
)
_FUNCTIONS = _set(
    "sleep benchmark concat concat_ws group_concat char chr ascii ord hex unhex substr substring mid version "
    "database user current_user session_user system_user schema load_file extractvalue updatexml xmltype pg_sleep "
    "md5 sha1 count ifnull nullif coalesce cast convert rand floor exp json_extract json_depth json_keys "
    "randomblob sqlite_version last_insert_rowid row_count found_rows connection_id elt make_set conv instr lpad "
    "rpad soundex lo_import lo_export lo_get query_to_xml string_agg pg_read_file pg_ls_dir name_const bit_and "
    "std aes_encrypt uncompress likely unlikely current_setting inet_aton geometrycollection polygon multipoint "
    "starts_with to_char to_number if sysdate now abs acos asin atan ceil ceiling cos cot crc32 degrees ln log "
    "log10 pow power radians round sign sin sqrt tan truncate avg max min sum bit_length bit_or curdate curtime "
    "date_add date_format date_sub datediff dayname dayofmonth extract from_days from_unixtime greatest least "
    "lcase ucase lower upper ltrim rtrim trim monthname period_add quarter quote repeat reverse sec_to_time "
    "strcmp str_to_date time_to_sec timestampadd to_days unix_timestamp utc_date uuid variance week weekday year "
    "yearweek values export_set field find_in_set format_bytes get_lock inet_ntoa interval isnull is_used_lock "
    "locate master_pos_wait db_name schema_name object_name openrowset opendatasource array_agg json_object "
    "pg_client_encoding lead div"
)
_NAMED = re.compile(
    r"\b(?:information_schema\b|sys(?:objects|columns|databases)\b|pg_(?:catalog|user|shadow|class|tables)\b|"
    r"sqlite_(?:master|schema)\b|msysobjects\b|mysql\.(?:db|user)\b|master\.\.\w|waitfor\s+delay\b|"
    r"xp_(?:cmdshell|dirtree|reg\w+|fileexist)\b|sp_(?:executesql|oacreate|password|makewebtask|addextendedproc)\b|"
    r"utl_(?:http|file|inaddr)\b|dbms_(?:pipe|ldap|lock|java|xmlgen)\b|into\s+(?:out|dump)file\b|load\s+data\s+infile\b|"
    r"procedure\s+analyse\b|execute\s+immediate\b)|@@(?:version|global|datadir|hostname|servername)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<c>/\*.*?(?:\*/|$)|--[^\n]*|#[^\n]*)|"
    r"(?P<s>'(?:[^'\\]|\\.|'')*(?:'|$)|\"(?:[^\"\\]|\\.)*(?:\"|$)|`[^`]*(?:`|$))|"
    r"(?P<n>0x[0-9a-f]+|\d+(?:\.\d+)?)|(?P<v>@@?\w+)|(?P<word>[a-z_$][\w.$]*)|"
    r"(?P<o>\|\||&&|<=>|[<>!:]=|<>|::|[=<>~^|&*/%+!-])|(?P<mark>[(),;])|(?P<x>.)",
    re.IGNORECASE | re.DOTALL,
)
_APOSTROPHE = re.compile(r"'[a-z]{1,4}\b(?!\s*[=(<>])")
_QUOTATION = re.compile(r"[^'\"`]*(['\"`])[^'\"`]*\1[\w\s.,!?]*")
_MOST_TOKENS = 40
_OPERAND = r"\(*(?:[nsvf]|w(?=[o&)c(]|$)|k)"
_BEHIND_A_QUOTE = re.compile(rf"s\)*(?:&{_OPERAND}|o+\(*[nsvfk(]|c|;[kfc]|;$|k\(*[nsvfk(w]|U)")
_AS_IT_STANDS = re.compile(
    r"U\(*(?:k|[nsv])|"  # union select
    r"^[nsv]?\)*&\(*(?:[nsv]\)*[o&c;k]|f\(|[nsv]\)*$|\(k)|"  # 1 or 1=1
    r"^[nsvw]?\)*;k[wkv(]|"  # another statement behind a semicolon
    r"^[nsv]\)*o*\(*(?:f\(|\(k)|"
    r"^\(*k[wnsvo,()*]{1,12}k[w(]|"  # select … from …
    r"^\(*k\(*f\(|\(k[wnsvo*f(]|"
    r"^(?:[&o;,]\(*)?f\(|^[nsvw]?\)*[o&,]+\(*f\(|^[kw]k[(nsv]|^kw?[(;]$|"
    r"^&\(*[nsvwf]\)*[o&]|"
    r"[nsv)]c$"
)


def finding(text: str) -> str | None:
    if (named := _NAMED.search(text)) is not None:
        return f"names {named[0][:40]}"
    plain = "".join(_kinds(text))
    # Sentences have commas and words, but few operators; `n` for a number alone is no statement either.
    if _AS_IT_STANDS.search(plain[:_MOST_TOKENS]) and re.search(r"[('\"=;*]|--|\d", text):
        return f"reads as SQL: {plain[:_MOST_TOKENS]}"
    for quote in "'\"`":
        at = text.find(quote)
        # An apostrophe inside of a word ends nothing: `D'or`, `it's`.
        if at < 0 or (text[at - 1 : at].isalpha() and _APOSTROPHE.match(text, at) and "--" not in text):
            continue
        kinds = "s" + "".join(_kinds(text[at + 1 :]))
        if _BEHIND_A_QUOTE.match(kinds[:_MOST_TOKENS]) and not _QUOTATION.fullmatch(text):
            return f"goes on as SQL behind a quote: {kinds[:_MOST_TOKENS]}"
    return None


def _kinds(text: str) -> Iterator[str]:
    """A letter for each token: number, string, variable, word, keyword, function, `&` for logic, operator, comment."""
    for count, match in enumerate(_TOKEN.finditer(text)):
        group, token = match.lastgroup or "x", match[0].lower()
        if count > 4 * _MOST_TOKENS:
            return
        if group == "word":
            yield _kind_of_word(token, text[match.end() : match.end() + 1])
        elif group == "mark" or token in ("&&", "||"):
            yield "&" if token in ("&&", "||") else token
        elif group != "space":
            yield group


def _kind_of_word(word: str, after: str) -> str:
    if word == "union":
        return "U"
    if word in _FUNCTIONS and after == "(":
        return "f"
    if word in _LOGIC:
        return "&"
    return "k" if word in _KEYWORDS else "w"
