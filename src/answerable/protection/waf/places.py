"""Paths out of a folder, files of the system, and hosts of the server's own network."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from answerable.protection.waf.words import words

_SYSTEM_FILE = re.compile(
    r"(?:^|[\s'\"=:;,|&(/\\])/?(?:etc|proc|root|boot|dev|sys)[/\\]+[\w.$'\"*?{\[-]|"
    r"(?:^|[\s'\"=:;|&(])(?:var/(?:log|www|lib)|usr/local)/\w|"
    r"(?:^|[\s'\"=:;|&(])/(?:var|usr|opt|srv|home|tmp|bin|sbin|lib|system|library)/[\w.]+(?:/|\s|$|\.)|"
    r"\b[a-z]:[\\/]+(?:windows|winnt|inetpub|boot|program files|users|documents)|"
    r"\b(?:boot|win|system|php|my)\.(?:ini|cnf)\b|[\\/]system32[\\/]|^\\\\[\w.:-]+\\\w+\$",
    re.IGNORECASE,
)
_PRIVATE_FILE = re.compile(
    r"(?:^|[/\\\s='\"])(?:\.(?:env|git|svn|hg|bzr|ht\w+|ssh|aws|azure|gcloud|boto|bash\w*|zsh\w*|profile|npmrc|"
    r"pypirc|yarnrc|dockerenv|docker|"
    r"dockerignore|kube|pgpass|netrc|my\.cnf|mysql_history|psql_history|viminfo|gnupg|config|subversion|idea|"
    r"vscode|DS_Store|"
    r"travis\.yml|gitlab-ci\.yml|gitignore|gitconfig|gitmodules|editorconfig|drone\.yml|java-version|"
    r"vault-token|user\.ini|wgetrc|curlrc|"
    r"lesshst|nano_history|sqlite_history|python_history|node_repl_history|proclog|addressbook|anydesk|babel\w*|"
    r"cache|eslintrc\S*|"
    r"jshintrc|ansible|terraform|sf|sqldeveloper|hplip|keys|local|mozilla|kde|gem|vagrant\.d|well-known/\.)(?:$|"
    r"[/\\\s.~?'\"&;])|"
    r"(?:id_(?:rsa|dsa|ecdsa|ed25519)|authorized_keys|known_hosts|WEB-INF|META-INF|wp-config\b|web\.config|"
    r"config\.(?:inc|php|yml|json)\b|config/\w+\.(?:ya?ml|php|inc|xml)\b|server-(?:status|info)$|composer\.(?:json|lock)|package(?:-lock)?\.json|yarn\.lock|Gemfile|"
    r"Dockerfile|docker-compose|"
    r"localsettings\.php|settings\.(?:php|py|local)|database\.yml|secrets?\.(?:yml|json|env)|credentials\.(?:json|xml)|"
    r"thumbs\.db|auth\.json|sftp-config\.json|php(?:info|unit|myadmin)|db_layer|adminer|Jenkinsfile|Vagrantfile|"
    r"wallet\.dat|"
    r"phpstan|psalm|gruntfile|gulpfile|webpack|tsconfig|npm-shrinkwrap|ormconfig|now\.json|"
    r"deployment-config\.json|ws_ftp\.log|"
    r"[\w-]+\.(?:bak|swp|sql|old|orig|pem|ppk|pfx|kdbx)$))",
    re.IGNORECASE,
)
_HIDDEN_FILE = re.compile(
    r"(?:[/\\]\.(?!well-known\b)[a-z][\w-]{2,40}|^\.[a-z][\w-]{2,40}(?=[/\\]))(?=$|[/\\.~])", re.IGNORECASE
)
"""Files whose names begin with a dot are for nobody else."""
_SCHEMES = words(
    "compress.bzip2 compress.zlib ssh2.shell ssh2.exec ssh2.tunnel ssh2.sftp ssh2.scp file gopher dict ldap ldaps "
    "tftp sftp php phar zlib zip rar glob expect ogg jar netdoc rmi jndi view-source local_file mailto unix ftp ftps "
    "ssh data"
)
_INTERNAL_NAMES = re.compile(
    r"^(?:(?:ip6|ipv6)?-?(?:localhost|loopback)\d?(?:\.localdomain\d?)?|broadcasthost|metadata(?:\.[\w.]+)?|"
    r"instance-data|"
    r"host\.docker\.internal|kubernetes\.default.*|.*\.svc\.cluster\.local|(?:.*\.)?(?:nip|xip|sslip)\.io|"
    r"(?:.*\.)?localtest\.me|"
    r"(?:.*\.)?lvh\.me|(?:.*\.)?(?:vcap|lacolhost|yoogle|fbi)\.(?:me|com)|.*\.internal|.*\.(?:burpcollaborator|"
    r"oastify)\.\w+|rancher-metadata)$",
    re.IGNORECASE,
)
_INCLUSION = re.compile(r"^(?:file|ftps?|https?)(?:://[^?\s]*)?\?+$", re.IGNORECASE)
_SPECIAL_ADDRESSES = words("192.0.0.192 100.100.100.200 169.254.170.2 fd00:ec2::254")


def traversal(text: str) -> str | None:
    parts = re.split(r"[/\\]", text)
    for number, part in enumerate(parts):
        step = part.partition(";")[0].strip("=:'\" ")
        if (step in ("..", "...", "....") or re.search(r"[=:;\s]\.\.$", part)) and number < len(parts) - 1:
            return "leads out of its folder"
        if step in ("..", "...") and number and parts[0] != "" and number == len(parts) - 1:
            return "leads out of its folder"
    return None


def private_file(text: str) -> str | None:
    found = _SYSTEM_FILE.search(text) or _PRIVATE_FILE.search(text) or _HIDDEN_FILE.search(text)
    return f"names {found[0].strip()[:40]}" if found else None


def foreign_host(text: str) -> str | None:
    """A URL that leads to the server's own network, or with a scheme that reads files, or that is cut by a `?`."""
    text = text.strip()
    if _INCLUSION.match(text):
        return "a URL that cuts off what follows"
    scheme, colon, rest = text.partition(":")
    scheme = scheme.lower().removeprefix("url").strip()
    if colon and (scheme in _SCHEMES or scheme.split("+")[0] in _SCHEMES) and re.match(r"//|\w+/\w+|\.\w|/\w", rest):
        return f"a URL of the scheme {scheme}"
    if (nested := re.search(r"\b(?:unix:[^|]+\||url:(?:file|https?):|jar:\w+:)", text, re.IGNORECASE)) is not None:
        return f"a URL inside of another: {nested[0][:40]}"
    return _of_host(text)


def _of_host(text: str) -> str | None:
    is_url = bool(
        re.match(r"[a-z][\w+.-]*:/{0,2}\w", text, re.IGNORECASE) or text.startswith("//") or re.match(r"\w+:/*\[", text)
    )
    if not is_url and "/" not in text:
        return None
    try:
        host = (
            (urlsplit(re.sub(r"^([a-z]+):/{0,2}", r"\1://", text)).hostname or "") if is_url else text.partition("/")[0]
        )
    except ValueError:
        return "a URL that cannot be read"
    host = host.partition(":")[0] if not host.count(":") > 1 else host
    if _INTERNAL_NAMES.match(host) or host in _SPECIAL_ADDRESSES or _is_number(host, inside=not is_url):
        return f"leads to {host[:60]}"
    return None


def _is_number(host: str, *, inside: bool) -> bool:
    """Whether a host is an address and no name. As part of a URL any is a finding: pages have names."""
    if (
        re.fullmatch(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}", host, re.IGNORECASE) is None
        and ":" not in host
    ):
        return False
    try:
        is_single = re.fullmatch(r"0x[0-9a-f]{8}|\d{8,10}", host, re.IGNORECASE)
        address = ip_address(int(host, 0)) if is_single else ip_address(host)
    except ValueError:
        return "." in host and not inside
    return not (inside and address.is_global)


def is_path_to_elsewhere(path: str) -> bool:
    """Whether the path of a request holds a whole URL."""
    return "://" in path
