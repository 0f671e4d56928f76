"""SQL in a value. The value is read as tokens, as it stands and behind each quote that could end the string it is put
into; tokens in the order of an injection, or of a piece of a statement, are a finding."""

import re
from collections.abc import Iterator

from answerable.protection.waf.words import words

_LOGIC = words("and or xor not && || div mod like rlike regexp glob is between sounds in")
_KEYWORDS = words(
    "select insert update delete drop create alter truncate merge replace from where having group order by into "
    "values set table database union intersect except exec execute declare case when then else limit offset join null "
    "exists procedure waitfor shutdown grant revoke collate notnull isnull true false handler prepare"
)
_FUNCTIONS = words(
    "sleep benchmark concat concat_ws group_concat char chr ascii ord hex unhex substr substring mid version database "
    "user current_user session_user system_user schema load_file extractvalue updatexml xmltype pg_sleep md5 sha1 sha "
    "sha2 count ifnull nullif coalesce cast convert rand floor exp json_extract json_depth json_keys randomblob "
    "sqlite_version last_insert_rowid row_count found_rows connection_id elt make_set conv instr lpad rpad soundex "
    "lo_import lo_export lo_get query_to_xml string_agg pg_read_file pg_ls_dir name_const bit_and std stddev "
    "aes_encrypt aes_decrypt des_encrypt compress uncompress likely unlikely current_setting inet_aton "
    "geometrycollection polygon multipoint starts_with to_char to_number if sysdate now abs acos asin atan atan2 ceil "
    "ceiling cos cot crc32 degrees ln log log2 log10 pi pow power radians round sign sin sqrt tan truncate avg max "
    "min sum bit_length bit_or bit_xor bit_count curdate curtime adddate addtime date date_add date_format date_sub "
    "datediff day dayname dayofmonth dayofweek dayofyear extract from_days from_unixtime greatest least lcase ucase "
    "lower upper ltrim rtrim trim hour minute month monthname period_add period_diff quarter quote repeat reverse "
    "sec_to_time second strcmp str_to_date time time_format time_to_sec timediff timestamp timestampadd to_days "
    "to_seconds unix_timestamp utc_date utc_time uuid uuid_short variance var_pop week weekday weekofyear year "
    "yearweek values export_set field find_in_set format format_bytes get_lock inet_ntoa interval isnull is_free_lock "
    "is_used_lock release_lock locate position master_pos_wait db_name schema_name object_name openrowset "
    "opendatasource openquery array_agg json_object json_array json_build_object jsonb_pretty jsonb_build_object "
    "pg_client_encoding lead lag left right length char_length character_length octet_length insert replace space "
    "substring_index last_insert_id password old_password encrypt encode decode default local localtime "
    "localtimestamp current_date current_time current_timestamp charset coercibility collation bin oct in unistr iif "
    "div mod nvl nvl2 printf quote_literal glob total typeof zeroblob changes json iscolumn procedure_analyse "
    "sqlite_compileoption_get sqlite_compileoption_used sqlite_source_id load_extension row_to_json xmlagg ntile rank"
)
_ENGLISH = words(
    "left right lower upper convert quarter degrees unlikely likely log date time user if in day month year week "
    "format round space position field values default local second minute hour sign power repeat replace reverse "
    "insert length total count max min sum exists rank lead password version database schema encode decode quote "
    "interval extract compress char trim print case when then else set table where top end begin changes timestamp "
    "greatest least mid floor sin tan cast ceiling is not and or between as by from using"
)
"""Names that stand before a bracket in ordinary sentences too."""
_NAMED = re.compile(
    r"\b(?:information_schema|sys(?:objects|columns|databases|users|indexes|\.databases|\.tables)|pg_(?:catalog|"
    r"user|shadow|class|"
    r"tables|stat_activity)|sqlite_(?:master|schema|temp_master)|msys\w{4,}|mysql\.(?:db|user|host)|"
    r"master\.\.\w+|tempdb|msdb|"
    r"northwind|schema_name|n?varchar|openrowset|all_(?:tables|objects|tab_columns)|user_(?:tables|tab_columns)|"
    r"(?:xp|sp)_[a-z]{3,}\w*|utl_(?:http|file|inaddr)|dbms_\w+|into\s+(?:out|dump)file|"
    r"load\s+data\s+(?:local\s+)?infile|"
    r"procedure\s+analyse|execute\s+immediate|waitfor\s+(?:delay|time)|sql_delimit|current_user::\w+)\b|@@\w{3,}",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<c>/\*.*?(?:\*/|$)|--(?=\s|$|[^->])[^\n]*|#(?=\s|$)[^\n]*)|"
    r"(?P<s>'(?:[^'\\]|\\.|'')*(?:'|$)|\"(?:[^\"\\]|\\.)*(?:\"|$)|`[^`]*(?:`|$))|"
    r"(?P<n>0x[0-9a-f]+|\d+(?:\.\d+)?(?![a-z_]{2}))|(?P<v>@@?\w*)|(?P<word>[a-z_$][\w.$]*)|"
    r"(?P<o>\|\||&&|<=>|[<>!:]=|<>|::|[=<>~^|&*/%+!-])|(?P<mark>[(),;])|(?P<x>.)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTES = str.maketrans("\u2018\u2019\u00b4\u2032\u201c\u201d", "''''\"\"")
_APOSTROPHE = re.compile(r"'[a-z]{1,4}\b(?!\s*[=(<>|])", re.IGNORECASE)
_QUOTATION = re.compile(r"(?:[^'\"`]*[^\w'\"`])?(['\"`])[^'\"`]*\1(?:[\s.,!?][\w\s.,!?]*)?")
_MOST_TOKENS = 40
_OPERAND = r"\(*(?:[nsvf]|w(?=[o&)c(]|$)|k)"
_BEHIND_A_QUOTE = re.compile(
    rf"s\)*(?:&+{_OPERAND}|&+s|o+\(*[nsvfk(]|o+w*c|c|;[kfc]|;$|k\(*[nsvfk(w]|U|[w&okx]{{1,9}}c$|\(k|[w]?f\(|n$)"
)
_AS_IT_STANDS = re.compile(
    r"U\(*(?:k|[nsv])|U$|"  # union select
    r"^[nsvw]?\)*&+\(*(?:[nsv]\)*[o&c;k]|f\(|[nsv]\)*$|\(k)|"  # 1 or 1=1
    r"^[nsvw]?\)*;k[wkv(f]|;k$|"  # another statement behind a semicolon
    r"^[nsv]\)*o*\(*(?:f\(|\(k)|"
    r"^\(*k[wnsvo,()*]{1,12}k[w(]|"  # select … from …
    r"^\(*k\(*f\(|\(k[wnsvo*f(]|"
    r"^(?:[&o;,]\(*)?f\(|^[nsvw]?\)*[o&,]+\(*f\(|^[kw]k[(nsv]|^kw?[(;]$|"
    r"^&\(*[nsvwf]\)*[o&]|"
    r"[nsv)]c$|"
    r"k[nsw]k$|"  # when 234 then
    r"o::w"
)
_PHRASE = re.compile(
    r"^(?:order|group) by (?:\d|\S+ ?(?:[,;#(]|--|asc\b|desc\b|limit\b|having\b))|"
    r"^from [\w`.]+ (?:where|limit|group|order|left|inner|join)\b|^having \d|^execute? \w+$|"
    r"^select \(?case\b|^declare ?@|^set @\w|^exec ?\(|^(?:or|and) *\(?$|^except +select\b|^create table \w|"
    r"\bas ?[`\"']\w*[`\"']? ?from\b|=? ?\( ?select$|^\({5,}|"
    r"^select (?:0x|\w+ where)|\bunion (?:all |distinct )?select\b|^print\b.?$|^case when .+ then\b|^(?:like \(|"
    r"\) ?like ?\(?)$|^as \w+ from$|union(?:all)?select\w|"
    r"^(?:is|like) (?:not )?null$|\bgroup by\b.+\bhaving\b",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"^\W*(?:merge into \S+ using|create (?:or replace )?(?:function|procedure|trigger|database|user|login) \w+|"
    r"alter (?:database|table|user|login|role) \w+|truncate table \w|drop (?:table|database|view|user|function) \w|"
    r"shutdown with nowait|grant \w+ on \w)|^['\")\d]+ ?(?:order|group) by \d",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"-?(?:2147483648|2147483649|4294967295|4294967296|9223372036854775808|18446744073709551616|"
    r"2\.225073858507\d*e-308|1e(?:309|\d{4,}))",
    re.IGNORECASE,
)
"""Numbers just beyond what a database or a program can hold; nobody writes them by chance."""
_OPERATOR = re.compile(
    r"\d\.e[(),]|['\"\])}]\s*(?:->>?|@>|<@|\?[&|]|#>>?|#-)\s*['\"\w]|(?:@>|<@|\?[&|]|#>>?|#-)\s*['\"]", re.I
)
_CAST = re.compile(
    r"[\w)\]]::(?:int|bigint|text|json|jsonb|double|float|numeric|date|varchar|char|bool|bytea|regclass)"
)
_HEX = re.compile(r"(?:^|[\s=(,\\'])0x[0-9a-f]{4,}", re.IGNORECASE)
_HINT = re.compile(r"/\*\s*[!+]\s*\w|\{\s*(?:if|f|d|t|ts)\s+\w+\s*\(", re.IGNORECASE)
_ESCAPED_QUOTE = re.compile(r"\\(?:''|['\"`])\s*(?:or|and)(?=['\"`\s]|$)(?!\s*$)|\\['\"`](?:or|and)$", re.IGNORECASE)
_PASTED = re.compile(
    r"^\W*\d+\s*(?:or|and|xor)\s*\d+\s*[-=<>]|^--(?:alter|drop|select|update|insert|delete)\b", re.IGNORECASE
)


def finding(text: str) -> str | None:
    if (named := _NAMED.search(text)) is not None:
        return f"names {named[0][:40]}"
    text = text.translate(_QUOTES)
    bare = " ".join(re.sub(r"/\*.*?\*/", " ", text).split()).strip("()`/;>+=' ")
    if _OVERFLOW.fullmatch(text.strip()):
        return "a number that is too large on purpose"
    for shape in (_CAST, _HEX, _HINT, _ESCAPED_QUOTE, _PASTED, _OPERATOR):
        if (found := shape.search(text)) is not None:
            return f"a piece of SQL: {found[0].strip()[:40]}"
    if (always := _always_true(text)) is not None:
        return f"is always true: {always[:40]}"
    is_short = len(bare.split()) <= 8
    if (phrase := _PHRASE.search(bare) or _STATEMENT.search(" ".join(text.split()))) is not None and is_short:
        return f"a piece of a statement: {phrase[0][:40]}"
    return _of_tokens(text) or _cut_call(text)


_COMPARED = re.compile(
    r"^\s*(['\"]?)([\w.-]+)\1\s*(=|!=|<>|<=>|==|like|is not|is|not like|not regexp|regexp|rlike|"
    r"not rlike)\s*(['\"]?)([\w.-]+)\4\s*$",
    re.IGNORECASE,
)


def _always_true(text: str) -> str | None:
    """A value that compares two constants, so that it holds for every row."""
    found = _COMPARED.match(text)
    if found is None or not (found[1] or found[2].isdigit()):
        return None
    differs = found[3].lower() in ("!=", "<>") or "not" in found[3].lower()
    return text.strip() if (found[2] != found[5]) == differs else None


_ALTERNATIVES = re.compile(r"(?:between\s+)?(['\"]?)([\w.]+)\1\s+(?:or|and)\s+(['\"]?)([\w.]+)\3", re.IGNORECASE)


def _of_tokens(text: str) -> str | None:
    named = _ALTERNATIVES.fullmatch(text.strip())
    if named is not None and named[2].lower() != named[4].lower():
        return None  # `10 or 12`: two things that somebody names, and no condition
    plain = "".join(_kinds(text))
    # Sentences have commas and words, but few operators; `n` for a number alone is no statement either.
    if _AS_IT_STANDS.search(plain[:_MOST_TOKENS]) and re.search(r"[('\"=;*@<>|!]|--|\d", text) and not _is_prose(plain):
        return f"reads as SQL: {plain[:_MOST_TOKENS]}"
    for quote in "'\"`":
        at = text.find(quote)
        # An apostrophe inside of a word ends nothing: `D'or`, `it's`.
        ends = "--" in text or text.count(quote) > 1
        if at < 0 or (text[at - 1 : at].isalpha() and _APOSTROPHE.match(text, at) and not ends):
            continue
        kinds = "s" + "".join(_kinds(text[at + 1 :]))
        if _BEHIND_A_QUOTE.match(kinds[:_MOST_TOKENS]) and not _QUOTATION.fullmatch(text) and not _is_prose(kinds):
            return f"goes on as SQL behind a quote: {kinds[:_MOST_TOKENS]}"
    return None


def _is_prose(kinds: str) -> bool:
    """Several plain words one behind the other, more often than anything else."""
    return kinds.count("ww") >= 3 and kinds.count("w") > len(kinds) * 0.55


_CALL = re.compile(r"\b([a-z_]\w*)(\W{0,8}?)\(", re.IGNORECASE)


def _cut_call(text: str) -> str | None:
    """The name of a function with a bracket behind it, and little else: a call, or the beginning of one."""
    for found in _CALL.finditer(text):
        name, between = found[1].lower(), found[2]
        if name not in _FUNCTIONS:
            continue
        adjoining = not between.strip() and (not between or name not in _ENGLISH or len(text.split()) <= 3)
        alone = found.end() >= len(text.rstrip()) and found.start() <= 2
        if alone or (adjoining and len(text.split()) <= 12):
            return f"calls {found[0][:40]}"
    return None


def _kinds(text: str) -> Iterator[str]:
    """A letter for each token: number, string, variable, word, keyword, function, `&` for logic, operator, comment."""
    for count, match in enumerate(_TOKEN.finditer(text)):
        group, token = match.lastgroup or "x", match[0].lower()
        if count > 4 * _MOST_TOKENS:
            return
        if group == "word":
            yield _kind_of_word(token, text[match.end() : match.end() + 12])
        elif group == "mark" or token in ("&&", "||"):
            yield "&" if token in ("&&", "||") else token
        elif group != "space":
            yield group


def _kind_of_word(word: str, after: str) -> str:
    if word == "union":
        return "U"
    called = after.startswith("(") or (word not in _ENGLISH and after.lstrip().startswith("("))
    if word in _FUNCTIONS and called:
        return "f"
    if word in _LOGIC:
        return "&"
    return "k" if word in _KEYWORDS else "w"
