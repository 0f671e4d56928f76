"""Commands in a value. The value is cut where a shell would begin a new command, and the first word of each piece is
read as a shell would read it: without quotes, backslashes and variables that are empty."""

import re

from answerable.protection.waf.words import words

_UNIX = words(
    "7z 7za aa-exec ab adduser alpine ansible apt apt-get ar arch aria2c arj arp as ascii-xfr ash aspell atobm awk "
    "aws base32 base64 basenc bash batch bconsole bpftrace breaksw bridge bsdcat bsdtar bsdiff bundler busctl busybox "
    "byebug bzcat bzip2 bzless c89 c99 cancel capsh cat cc certbot check_by_ssh chattr chdir chef chflags chgrp chmod "
    "choom chown chpass chroot clang cmp cobc column comm composer cowsay cowthink cp cpan cpio cpulimit crash "
    "crontab csh csplit csvtool cupsfilter curl cscli dash dd dhclient diff dig dmesg dmidecode dmsetup dnf doas "
    "docker dosbox dpkg du dvips easy_install ebtables echo ed efax emacs env eqn esac eval expand expect expr facter "
    "fgrep find finger fish flock fmt fold fping ftp gawk gcc gdb gem genie genisoimage getent getfacl ghc gimp ginsh "
    "git grc grep egrep gtester gunzip gzip halt head hexdump hostid hostname hping3 htdigest htop htpasswd iconv id "
    "ifconfig ifup insmod ionice ip iptables irb jexec jjs jobs journalctl jq jrunscript julia knife kill killall ksh "
    "ksshell kubectl kulckpwdf last lastcomm lastlog lastlogin latex latexmk ldconfig ldd less lftp loginctl logger "
    "logname logsave look losetup lp lpr ls lscpu lshw lsof lspci lsusb ltrace lua lwp-download lwp-request lynx lz4 "
    "lzcat lzma make man mawk mkdir mkfifo mknod mlocate more mount mpstat msfconsole msgattrib mutt mv mysql "
    "mysqladmin mysqldump mtr nano nasm nawk nc nc.openbsd nc.traditional ncat ncdu neofetch net netcat netkit-ftp "
    "netplan netstat nft nice nl nm nmap node nohup npm nroff nsenter nslookup nstat octave od openssl openvpn openvt "
    "opkg pacman passwd paste patch pax pdflatex pdksh perf perl perlsh pgrep php pic pico pidstat pigz ping ping6 "
    "pip pkexec pkg pkill poetry popd printenv printf procmail ps psed psftp psql ptx pushd pwd pwsh pxz python "
    "python2 python3 rake rbash rc rcp readelf realpath reboot red redcarpet rename replace restic rev rlogin rlwrap "
    "rm rmdir rmuser route rpm rpmdb rpmquery rsync ruby run-mailcap run-parts rvim rview sash scanmem scp screen "
    "script scrot sed service set setarch setenv setfacl setsid sftp sg sh sha1sum sha256sum sha512sum md5sum shuf "
    "shutdown slsh smbclient snap socat sort source split sqlite3 ss ssh ssh-keygen ssh-keyscan sshpass "
    "start-stop-daemon stat stdbuf strace strings su sudo svn sysctl systemctl systemd-resolve tac tail tailf tar "
    "task taskset tasksh tbl tclsh tcpdump tcping tcsh tee telnet terraform tftp tic time timedatectl timeout tmux "
    "top touch traceroute traceroute6 troff trap truncate tshark ul uname uncompress unexpand uniq unlzma unrar unset "
    "unshare unzip update-alternatives uptime useradd userdel usermod uudecode uuencode valgrind vi view vigr vim "
    "vimdiff vipw virsh visudo w3m wall watch wget whiptail whois whoami who wireshark wish xargs xdotool xelatex "
    "xetex xmodmap xmore xpad xterm xxd xz xzcat yarn yelp yum zcat zdiff zegrep zfgrep zgrep zip zipinfo zless zmore "
    "zsh zstd zypper gtfo rmt-tar rmt-dump rmt"
)
_WINDOWS = words(
    "cmd cmd.exe powershell powershell.exe pwsh certutil bitsadmin mshta mshta.exe rundll32 regsvr32 wscript cscript "
    "wmic schtasks tasklist taskkill ipconfig net nltest nbtstat systeminfo whoami reg regedit sc at attrib cacls "
    "icacls takeown dir type copy xcopy robocopy del erase move ren forfiles findstr diskpart format fsutil bcdedit "
    "cipher vssadmin msbuild installutil csc odbcconf pcalua cmstp mavinject msiexec hh ieexec presentationhost "
    "syncappvpublishingserver appvlp tasklist.exe iex iwr iwmi icm saps sajb gwmi gci gc gps gsv sv nal epal ipmo "
    "rundll32.exe regsvr32.exe certutil.exe msiexec.exe wmic.exe start assoc ftype setx subst pushd popd "
    "desktopimgdownldr diantz esentutl expand extrac32 makecab replace runscripthelper scriptrunner ttdinject "
    "tttracer vbc verclsid wab winrm wuauclt xwizard bginfo cdb csi dnx msdeploy sqldumper sqlps te tracker"
)
_ENGLISH = words(
    "as at ar ash batch bridge cancel cat chef column compress copy cowsay crash dash date diff dir docker du echo ed "
    "env eval expand expect expr finger fish fold format genie git halt head host id in jobs julia kill last less "
    "local logger look make man mail more mount move net nice node paste patch pic pico ping pip pkg printf red "
    "rename replace reset route ruby run rc screen script sed service set sg snap sort source split start stat "
    "strings task te time timeout top touch trap truncate type uptime view wall watch whois who wish yarn zip cc nl "
    "od ps pr ss su ul vi w which whereis la hh reg sc ip if tracker cd cipher ftp mv nc pwd arch aspell aws find gem "
    "lua npm poetry perl php python rake tee mysql"
)
"""Commands that are words of sentences, or short enough to be: they need an argument that only a command has."""
_RUNNERS = words(
    "time nohup strace sudo timeout nice env exec xargs command builtin doas setsid watch busybox stdbuf ltrace flock"
)
_TOOLS = re.compile(r"(?:ansible|chef|lwp|systemd|apt|rmt)-[a-z-]+|python[\d.]+|chef(?= )")
_CLIENTS = words("curl wget lynx w3m aria2c node python ruby perl php links nmap")
"""Programs that send requests by their own name."""
_PLAIN_TOOLS = words(
    "chattr chgrp chmod chown crontab gunzip gzip ifconfig insmod iptables killall lsof mkdir mkfifo mknod ncat netcat "
    "netstat nslookup pkill rmdir rsync scp sftp systemctl tcpdump tftp traceroute umount uname unzip useradd usermod "
    "wget xxd zcat"
)
"""Commands that are words of no language: with anything behind them they are meant as commands."""
_HIDDEN_WORD = re.compile(r"[a-z/](?:\$[@*!?_-]|\$\(\)|``|''|\"\"|\\|['\"](?=\w))+[a-z/]", re.IGNORECASE)
"""Signs inside of a word that a shell drops."""
_DROPPED = re.compile(r"\$[@*!?_-]|\$\(\)|[`'\"\\]")
_SEPARATOR = re.compile(r"\$\(|[<>]\(|&&|\|\||[;|`\n\r&]|\{(?=\s|,)")
_NOISE = re.compile(r"''|\"\"|\\(?=[\w/])|\$[@*!?_$-]|\$\{[^}]{0,20}\}|\^")
_PATH = re.compile(r"^(?:[a-z]:)?(?:[\\/]?[\w.*?-]*[\\/])+", re.IGNORECASE)
_ARGUMENT = re.compile(
    r"^(?:-{1,2}\w|\+\w|/|\.{0,2}/|~/|\$|['\"]|\d+(?:\.\d+){3}|https?:|\w+=|[<>]|%\w+%|\w:\\|\w+\.\w{1,5}(?:\s|"
    r"$)|[*?]|\||(?:\S+\s+){0,3}-{1,2}\w|(?:\S+\s+)?(?:passwd|shadow|ifconfig|whoami)\b)"
)
_POWERSHELL = re.compile(
    r"\b(?:add|clear|close|compare|connect|convert(?:to|from)?|copy|debug|disable|disconnect|enable|enter|exit|"
    r"export|find|format|"
    r"get|import|install|invoke|join|limit|measure|move|new|out|pop|push|read|receive|register|remove|rename|"
    r"reset|resolve|"
    r"restart|restore|resume|save|search|select|send|set|show|split|start|stop|suspend|tee|test|trace|unblock|"
    r"undo|uninstall|"
    r"unregister|update|use|wait|write)-(?:object|item\w*|content|process|service|job|event\w*|module|variable|"
    r"alias|command|"
    r"expression|webrequest|restmethod|wmi\w*|cim\w*|computer\w*|credential|csv|date|history|host|location|"
    r"member|output|path|"
    r"pssession\w*|psdrive|random|string|sleep|type|user\w*|acl|childitem|clixml|counter|culture|help|hotfix|"
    r"null|printer|"
    r"transaction|unique|verb|xml|json|screenshot|aduser)\b",
    re.IGNORECASE,
)
_SHAPES = (
    (
        re.compile(
            r"\$\{?IFS\b|/dev/(?:tcp|udp)/|^\(\)\s*\{|:\(\)\s*\{|%(?:comspec|systemroot|systemdrive|windir|temp)%", re.I
        ),
        "shell syntax",
    ),
    (re.compile(r"(?:^|[\s=;|&'\"`])(?:/[\w?*\[\]-]{1,12}){1,6}/?(?<=[/?*\w])", re.I), "a path with gaps"),
    (re.compile(r"(?:^|[\s;|&,=\w])\{[\w./-]*,[\w./,\s-]*\}"), "an expansion"),
    (re.compile(r"(?:^|[\s;|&'\"])!-\d"), "a command of the history"),
    (
        re.compile(
            r"\$\w{1,8}\$\w{1,8}\$?|\$\{\w+\}\$|(?:^|[;&])\s*\w{1,8}=[^;&\s]{1,40}(?:;|&&)\s*\w{1,8}=|\$\w+\s+\$\w+\$"
        ),
        "variables",
    ),
    (re.compile(r"(?:^|[\s=:])~(?:[+-]\d*|\d+)(?:$|/)"), "an expansion"),
    (re.compile(r"\$\(\(|\$\{[a-z_]+[:#%/^,@]|(?:^|[\s=;|&])[<>]\(\s*[\w/.$]|\$'\\", re.I), "a substitution"),
    (re.compile(r"(?:^|[\s;&|])\[\[?\s+(?:!\s+)?-[a-z]\s+\S+\s+\]"), "a test"),
    (re.compile(r"(?:^|[;&\s])(\w{1,12})=[^;&\s]{1,40}(?:;|&&)\s*\$\{?\1\b"), "variables"),
    (
        re.compile(
            r"(?:^|;)\s*\.(?:archive|backup|bail|cd|clone|dbconfig|dump|excel|filectrl|fullschema|import|load|log|once|"
            r"open|output|read|restore|save|schema|shell|system|tables|vfslist)(?:\s+\S|\s*$)"
        ),
        "a command of a database shell",
    ),
    (
        re.compile(
            r"\b(?:for|while|until)\b.{1,100}\bdo\b.{1,200}\bdone\b|\bif\s+(?:\[|\(|exist\b|"
            r"not\b).{1,100}(?:\bthen\b|\b(?:echo|del|goto|call|cmd)\b)|\bfor\s+/[dflr]\b|\bfor\s+%+\w+\s+in\b",
            re.I | re.S,
        ),
        "a loop",
    ),
)


def finding(text: str) -> str | None:
    if (shell := _POWERSHELL.search(text)) is not None:
        return f"runs {shell[0]}"
    for shape, what in _SHAPES:
        found = shape.search(text)
        if found and (what != "a path with gaps" or re.search(r"[?*\[]", re.sub(r"\?\w+$", "", found[0]))):
            return f"{what}: {found[0].strip()[:40]}"
    if (hidden := _hidden_command(text)) is not None:
        return f"runs {hidden}, written so that it is not seen"
    at, first = 0, True
    for cut in (*_SEPARATOR.finditer(text), None):
        piece = text[at : cut.start() if cut else len(text)]
        if (command := _command(piece, first=first)) is not None:
            return f"runs {command}"
        first, at = False, cut.end() if cut else len(text)
    return None


def _hidden_command(text: str) -> str | None:
    if not _HIDDEN_WORD.search(text):
        return None
    for word in text.split():
        if word.count("'") % 2 or word.count('"') % 2:
            continue  # an apostrophe
        name = _PATH.sub("", _DROPPED.sub("", word)).strip(";|&()").lower()
        if _HIDDEN_WORD.search(word) and name in _UNIX:
            return name
    return None


def in_header(text: str) -> str | None:
    """Headers are written by programs, so a command needs no argument there to be one."""
    word = re.sub(r"^\w+=", "", text.strip("'\" ")).partition(" ")[0].strip("'\"").lower()
    is_command = word in _UNIX - _ENGLISH - _CLIENTS or _TOOLS.fullmatch(word) is not None
    return f"runs {word}" if is_command and len(word) > 3 else None


def _command(piece: str, *, first: bool) -> str | None:
    """The command that a piece runs, or None. `first`: nothing stands before it that would end another command."""
    read = _NOISE.sub("", piece.strip(" \t({!,@")).lstrip(".").strip()
    if read.startswith(("'", '"')) and (end := read.find(read[0], 1)) > 0:
        read = read[1:end] + read[end + 1 :]
    read = re.sub(r"(?<=\w)['\"](?=\w)|(?<=\w)\$\w+(?=\w)", "", read)
    read = re.sub(r"(?<=\w)(?=[<>])", " ", read)
    word, _, rest = re.sub(r"^\$\w+\s+", "", read).replace("+", " ").partition(" ")
    has_path = bool(_PATH.match(word)) and ("/bin/" in word or "\\" in word or "system32" in word.lower())
    name = _PATH.sub("", word).rstrip(",)}\\").lower()
    known = name in _UNIX or name in _WINDOWS or _TOOLS.fullmatch(name)
    if has_path and "/bin/" in word and len(word) > 6:
        return word[:40]
    if not known:
        return None
    rest = rest.strip()
    if name in _RUNNERS and (_command(rest, first=True) is not None or rest.partition(" ")[0] in _UNIX - _ENGLISH):
        return f"{name} {rest}"[:40]
    if _ARGUMENT.match(rest):
        return f"{name} {rest}"[:40]
    if name in _PLAIN_TOOLS and rest and len(rest.split()) <= 4:
        return f"{name} {rest}"[:40]
    if first:
        return f"{name} {rest}"[:40] if "-" in name and rest and name in _UNIX else None
    if name not in _ENGLISH:
        return name
    return name if not rest and len(name) > 1 else None
