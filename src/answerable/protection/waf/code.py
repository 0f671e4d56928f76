"""Code of programs behind a server: PHP, Java, Ruby, Perl, Python, templates, objects that act when read."""

import re
from base64 import b64decode

from answerable.protection.waf.words import words

_CALL = re.compile(r"\b([a-z_]\w{1,80})['\"]?\)?(\s*)\(\s*(?=([\"'$\w)\\]|$))", re.IGNORECASE)
_FUNCTIONS = words(
    "system exec shell_exec passthru popen proc_open phpinfo assert fopen fread fwrite fputs fgets fclose fpassthru "
    "readfile include include_once require_once unserialize serialize create_function str_rot13 strrev urldecode "
    "usort extract parse_str putenv ini_set chmod unlink rename mkdir glob opendir scandir move_uploaded_file eval "
    "die printf var_dump print_r define constant show_source bin2hex hex2bin chr ord implode explode base64_decode "
    "base64_encode file_get_contents file_put_contents assert_options file filegroup imagegif imagejpeg imagepng "
    "imagewbmp imagexbm is_a md5 sha1 tmpfile unpack substr stat lstat bzopen readlink symlink copy touch"
)
_ENGLISH = words("system file stat copy touch define constant rename extract glob include die assert")
"""Functions whose names stand before a bracket in sentences too; there a space stands between."""
_FAMILIES = (
    *(
        "call_user_func",
        "preg_",
        "array_",
        "gz",
        "get_",
        "is_",
        "mb_",
        "curl_",
        "mysql_",
        "mysqli_",
        "sqlite_",
        "tidy_",
        "zend_",
    ),
    *("sodium_", "session_", "posix_", "apache_", "ob_", "pcntl_", "highlight_", "file_", "stream_", "socket_"),
)
"""How names of functions of PHP begin."""
_XML_HEAD = re.compile(r"<\?xml[\w:-]*\s[^>]*\?>", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*\n", re.DOTALL)
_CODE = re.compile(
    r"<\?(?:php|=|\s|[$@]|(?:echo|print|include|require|if|for|while)\b|\w+\s*\()|\[[/\\]?php\]|(?:^|;)\s*\?>|"
    r"['\"]\)?\(\s*['\"$\w]|_\$\$ND_FUNC\$\$_|__js_function|\bwhile\s*\(\s*!*\s*(?:true|\d+)\s*\)|"
    r"\$\w{1,80}\s*(?:\[[^\]]+\]\s*)*\(\s*\)|(?:->|::)\s*\$\w{1,60}\s*\(|"
    r"\$_+\s*(?:GET|POST|REQUEST|SERVER|COOKIE|FILES|ENV|SESSION)\b|\$\s?_S\s?ERVER|\$(?:GLOBALS|HTTP_\w+|argc|"
    r"argv|php_errormsg)\b|\$\{\s*['\"_]|"
    r"\b[OCas]:\+?\d+:[\"{]|"
    r"[)\]}'\"]\s*\(\s*[^()]{0,60}\)\s*;|\(\s*(?:string|int|array|object)\s*\)\s*[\[{(\"']|"
    r"\${1,3}(?:\w{1,80}|\{[^}]*\})\s*(?:\[[^()]*\]|\{[^}]*\}|\s)*\(\s*[\w'\"$]|->\w+\s*\(|\b\w{1,60}::\w{1,60}\s*\(|"
    r"\bnew\s+\w+\s*\(\s*['\"$]|"
    r"\b(?:auto_(?:ap|pre)pend_file|allow_url_(?:include|fopen)|disable_functions|open_basedir|extension_dir|"
    r"opcache\.\w+|safe_mode|"
    r"session\.\w+|include_path|display_errors|error_reporting|log_errors|magic_quotes\w*|register_globals|"
    r"short_open_tag|upload_\w+|"
    r"user_agent|variables_order|zend\.\w+|zlib\.\w+|mbstring\.\w+|sendmail_\w+|suhosin\.\w+|xdebug\.\w+|"
    r"soap\.\w+|date\.timezone|"
    r"memory_limit|post_max_size|max_\w+_time|output_\w+|assert\.\w+|asp_tags|doc_root|engine|expose_php)\s*=|"
    r"\bjavax?\.\w+\.\w+|\b(?:com|org|sun|net)\.(?:sun|apache|springframework|opensymphony|mchange|caucho|"
    r"zimbra|bea|codehaus|hibernate|jboss|python|yaml|h2)\.\w+|\.getRuntime\b|\bProcessBuilder\b|"
    r"\bRuntime\b.{0,40}\bexec\b|"
    r"\$\{?\s*(?:jndi|\$\{)|jndi\s*:|"
    r"(?:clone|instantiate|invoker|chained|constant)transformer|(?:for|while)closure|prototype(?:clone|"
    r"serialization)factory|instantiatefactory|xmldecoder|"
    r"#_memberAccess|#(?:context|session|application|request|parameters)\b|@java|class\.module\.classLoader|"
    r"\bclass(?:\.|\[)['\"]?classloader|"
    r"\bRegexp\.new|\b(?:IO|Kernel|File|Open3|Process)\.(?:popen\w*|exec|read|open|system|spawn|capture\w*)|"
    r"%x\s*[\[{(]|"
    r"__(?:import|class|mro|subclasses|globals|builtins|init|bases|getattribute|proto)__|\bos\.(?:system|popen)|"
    r"subprocess\.\w+|"
    r"\bimport\s+(?:os|subprocess|socket|pty)\b|\bopen\s*\(\s*['\"]/|@\{\s*\[\s*\w+|\bqx\s*[({/'|]|@\{[^}]{0,80}\bsystem\b",
    re.IGNORECASE | re.DOTALL,
)
_TEMPLATE = re.compile(
    r"\{\{[^{}]*[*.(\[|+'\"-][^{}]*\}\}|\{\{\s*\w+\s*\}\}|\{%[^%]*%\}|#\{[^{}]*[*.('+][^{}]*\}|<%[=@!#]?[^%]*%>|"
    r"\$\{[^{}]*[*.(:+'][^{}]*\}|"
    r"\{/?php\}|\[%[^\]]*%\]|[%$]\{\s*\(?#|[@*]\{[^{}]*[(.][^{}]*\}|<#\w+|\[#\w+|<\w+:\w+[^>]*=|#(?:set|if|foreach|include|parse|evaluate)\s*\(",
    re.DOTALL | re.IGNORECASE,
)
_MAGIC = re.compile(r"rO0AB|KztAAU|Cs7QAF|\xac\xed\x00\x05")
"""How objects of Java begin, as they are and in Base64."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,4000}")
_GADGET = re.compile(
    r"runtime|rocessbuild|clonetransform|nvokertransform|nstantiatetransform|chainedtransform|constanttransform|"
    r"rototypeclone|"
    r"rototypeserial|(?:or|hile)closure|nstantiatefactory|java\.(?:lang|io|util)|<script|/etc/passwd|ilewriter|"
    r"mldecoder|etproperty|"
    r"child_process|/bin/(?:ba)?sh|<\?php|union\s+select",
    re.IGNORECASE,
)


def finding(text: str) -> str | None:
    bare = _COMMENT.sub(" ", text) if "/" in text else text
    bare = _XML_HEAD.sub(" ", bare) if "<?" in bare else bare
    for name, space, argument in _CALL.findall(bare):
        if _is_function(name) and not (name.lower() in _ENGLISH and (space or argument.isalpha())):
            return f"calls {name[:40]}"
    found = _CODE.search(bare)
    return f"code: {found[0].strip()[:40]}" if found else None


def _is_function(name: str) -> bool:
    name = name.lower()
    return name in _FUNCTIONS or name.startswith(_FAMILIES) or name.count("_") > 1


def template(text: str) -> str | None:
    found = _TEMPLATE.search(text)
    return f"a template: {found[0].strip()[:40]}" if found else None


def hidden_code(text: str) -> str | None:
    """Code and names of dangerous classes inside of Base64, also if it began somewhere before the value."""
    if (magic := _MAGIC.search(text)) is not None:
        return f"an object: {magic[0]}"
    for token in _BASE64.findall(text):
        for start in range(4):
            part = ("A" * start + token).replace("-", "+").replace("_", "/")
            part = part[:-1] if len(part) % 4 == 1 else part
            inside = b64decode(part + "=" * (-len(part) % 4)).decode("latin-1")
            if (found := _GADGET.search(inside)) is not None:
                return f"hides {found[0]!r}"
    return None
