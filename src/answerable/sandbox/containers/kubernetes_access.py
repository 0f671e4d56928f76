"""Where the Kubernetes API listens and how to be let in: from a kubeconfig, or from the account of our own pod."""

import base64
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from answerable.isolation.own_folder import scratch_folder
from answerable.sandbox.containers.control import ControlApi, unavailable

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_REMEDY = "Set KUBECONFIG to a kubeconfig file with a token or a client certificate."


def cluster_api(environment: Mapping[str, str] = os.environ, account: Path = _ACCOUNT) -> ControlApi:
    """An `OperatorError` (`sandbox_unavailable`) when there is no cluster to be found, or no way in that we know."""
    config = Path(environment.get("KUBECONFIG") or Path.home() / ".kube" / "config")
    if config.is_file():
        return _from_config(config)
    if (account / "token").is_file() and "KUBERNETES_SERVICE_HOST" in environment:
        return _from_account(environment, account)
    raise unavailable("There is no Kubernetes cluster: no kubeconfig, and no account of a pod.", _REMEDY)


def _from_account(environment: Mapping[str, str], account: Path) -> ControlApi:
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        token = (account / "token").read_text().strip()
        tls = ssl.create_default_context(cafile=str(account / "ca.crt"))
    except (OSError, UnicodeDecodeError) as error:
        raise unavailable(f"The pod's account cannot be used: {error}.", _REMEDY) from error
    return ControlApi(f"https://{host}:{port}", {"Authorization": f"Bearer {token}"}, tls)


def _from_config(path: Path) -> ControlApi:
    import yaml

    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        context = _named(config, "contexts", config["current-context"])["context"]
        cluster = _named(config, "clusters", context["cluster"])["cluster"]
        user = _named(config, "users", context["user"])["user"] or {}
        return ControlApi(cluster["server"], _headers(user), _tls(cluster, user, path.parent))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError, ssl.SSLError) as error:
        raise unavailable(f"{path} is not a kubeconfig that can be used: {error!r}.", _REMEDY) from error


def _named(config: Any, kind: str, name: str) -> Any:
    return next((entry for entry in config[kind] if entry["name"] == name), None) or _missing(kind, name)


def _missing(kind: str, name: str) -> Any:
    raise KeyError(f"{name} in {kind}")


def _headers(user: Mapping[str, Any]) -> dict[str, str]:
    if "exec" in user or "auth-provider" in user:
        raise ValueError("the user's login needs another program; give a token instead")
    if "tokenFile" in user:
        return {"Authorization": f"Bearer {Path(user['tokenFile']).read_text().strip()}"}
    return {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}


def _tls(cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path) -> ssl.SSLContext | None:
    if not str(cluster["server"]).startswith("https://"):
        return None
    if cluster.get("insecure-skip-tls-verify"):
        raise ValueError("a cluster whose certificate is not checked is not used")
    authority = _content(cluster, "certificate-authority", folder)
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    certificate, key = _content(user, "client-certificate", folder), _content(user, "client-key", folder)
    if certificate and key:
        _load(context, certificate, key)
    return context


def _content(entry: Mapping[str, Any], name: str, folder: Path) -> bytes | None:
    if f"{name}-data" in entry:
        return base64.b64decode(entry[f"{name}-data"])
    return (folder / entry[name]).read_bytes() if name in entry else None


def _load(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """`ssl` takes a certificate from a file only."""
    with scratch_folder() as folder:
        file = folder / "certificate"
        file.touch(mode=0o600)
        file.write_bytes(certificate + b"\n" + key)
        context.load_cert_chain(file)
