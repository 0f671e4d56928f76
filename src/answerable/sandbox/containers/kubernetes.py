"""Code in a pod of its own: a Job that is created for one run and deleted with it, through the Kubernetes API.

The pod has no network (a NetworkPolicy that the cluster's network must enforce, and our seccomp filter inside), no
account, a read-only root, an unprivileged user, no capabilities, the runtime's seccomp profile, and bounds on memory,
processors, scratch and time. Its code is spoken to over the pod's standard streams (`attach` on a WebSocket).

Checked against the published schema and a simulator of the API; it has not been run on a cluster.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from answerable.core.errors import OperatorError
from answerable.sandbox.base import Availability, SandboxRequest, SandboxResult
from answerable.sandbox.containers import boot
from answerable.sandbox.containers.control import ControlApi, ControlError, ControlReply, availability, unavailable
from answerable.sandbox.containers.kubernetes_access import cluster_api
from answerable.sandbox.containers.kubernetes_attach import attached
from answerable.sandbox.exchange import START_SECONDS, converse
from answerable.sandbox.results import RunPlace, SandboxRecord, Stopped, result_of
from answerable.sandbox.tables.workers import TableWorkers

_LABEL = "answerable.sandbox"
_POLICY = "answerable-sandbox"
_CONTAINER = "code"
_POLL_SECONDS = 0.2
_ENDED_BY = {
    "OOMKilled": Stopped("memory", "The code needed more memory than it may use."),
    134: Stopped("memory", "The code could not get memory, and its process gave up."),
    137: Stopped("memory", "The code's process was killed, most likely for its memory."),
    152: Stopped("cpu", "The code used too much computing time."),
    159: Stopped("forbidden", "The code made a system call that is forbidden."),
}
_WALLS = {
    "files": "pod, read-only root",
    "network": "NetworkPolicy, seccomp",
    "processes": "pid namespace, seccomp",
    "privileges": f"user {boot.USER}, no capabilities, no account",
    "memory": "cgroup",
    "time": "deadline of the Job",
}
_REMEDY = "Set `kubernetes_image` and `kubernetes_namespace`, and give access by a kubeconfig or a service account."


class KubernetesSandbox:
    """`cluster` is the API; by default the one that the kubeconfig or the pod's own account names."""

    name = "kubernetes"

    def __init__(
        self,
        image: str,
        namespace: str,
        cluster: ControlApi | None = None,
        *,
        cpus: float = 1.0,
        at_once: int = 8,
    ) -> None:
        self._image = image
        self._namespace = namespace
        self._known_cluster = cluster
        self._cpus = cpus
        self._places = asyncio.Semaphore(at_once)
        self._tables = TableWorkers(at_once)

    async def available(self) -> Availability:
        found = f"image {self._image} in namespace {self._namespace}"
        return await availability(self._check(), Availability(self.name, True, found, _WALLS))

    async def start(self) -> None:
        """Starts the sandbox. Creates the network policy that forbids all traffic if the cluster lacks it."""
        await self._check()
        path = f"/apis/networking.k8s.io/v1/namespaces/{self._namespace}/networkpolicies"
        await self._call("POST", path, network_policy(), also=409)

    async def run(self, request: SandboxRequest) -> SandboxResult:
        async with self._places, self._job(request) as job:
            pod = await self._running_pod(job)
            record = await self._talked(pod, request)
        return await result_of(record, request, RunPlace(self.name, _WALLS), self._tables)

    async def close(self) -> None:
        """Each run deletes its own Job; only the processes that make tables are left."""
        await self._tables.close()

    @property
    def _cluster(self) -> ControlApi:
        if self._known_cluster is None:
            self._known_cluster = cluster_api()
        return self._known_cluster

    @property
    def _jobs(self) -> str:
        return f"/apis/batch/v1/namespaces/{self._namespace}/jobs"

    @property
    def _pods(self) -> str:
        return f"/api/v1/namespaces/{self._namespace}/pods"

    async def _check(self) -> None:
        if not self._image:
            raise unavailable("No image is set for the kubernetes sandbox.", _REMEDY)
        try:
            found = await self._cluster.look_up(f"{self._jobs}?limit=1")
        except ControlError as error:
            raise unavailable(f"The Kubernetes API does not answer: {error}.", _REMEDY) from error
        if found.status != 200:
            raise unavailable(f"The Kubernetes API refuses: {found.complaint}.", _REMEDY)

    @asynccontextmanager
    async def _job(self, request: SandboxRequest) -> AsyncIterator[str]:
        name = f"answerable-{uuid4().hex[:20]}"
        try:
            await self._call("POST", self._jobs, manifest(name, self._image, request, self._cpus))
            yield name
        finally:
            await asyncio.shield(self._delete(name))

    async def _delete(self, job: str) -> None:
        with suppress(ControlError):  # its deadline and its time to live end it too
            await self._cluster.call("DELETE", f"{self._jobs}/{job}?propagationPolicy=Background")

    async def _running_pod(self, job: str) -> str:
        """The name of the Job's pod, once its container runs."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            listed = await self._call("GET", f"{self._pods}?labelSelector={quote(f'job-name={job}', safe='')}")
            for pod in listed.json["items"]:
                if _runs(pod):
                    return str(pod["metadata"]["name"])
            await asyncio.sleep(_POLL_SECONDS)
        raise _failed("the pod did not start in time")

    async def _talked(self, pod: str, request: SandboxRequest) -> SandboxRecord:
        path = f"{self._pods}/{pod}/attach?container={_CONTAINER}&stdin=true&stdout=true&stderr=true"
        try:
            async with attached(self._cluster, path) as streams:
                record = await converse(streams, request)
                if record.done is None and record.stopped is None:
                    record.stopped = await self._why_it_ended(pod)
                return record
        except ControlError as error:
            raise _failed(error) from error

    async def _why_it_ended(self, pod: str) -> Stopped:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            state = _state((await self._call("GET", f"{self._pods}/{pod}")).json)
            if ended := state.get("terminated"):
                code = ended.get("exitCode")
                unknown = Stopped("died", f"The code ended its process (exit code {code}).")
                return _ENDED_BY.get(ended.get("reason")) or _ENDED_BY.get(code) or unknown
            await asyncio.sleep(_POLL_SECONDS)
        return Stopped("died", "The code fell silent.")

    async def _call(self, method: str, path: str, body: Any = None, also: int = 200) -> ControlReply:
        try:
            reply = await self._cluster.call(method, path, body)
        except ControlError as error:
            raise _failed(error) from error
        if reply.status >= 400 and reply.status != also:
            raise _failed(reply.complaint)
        return reply


def manifest(name: str, image: str, request: SandboxRequest, cpus: float = 1.0) -> dict[str, Any]:
    """The Job, as the API takes it."""
    labels = {_LABEL: "true"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": int(request.limits.seconds + START_SECONDS) + 1,
            "ttlSecondsAfterFinished": 60,
            "template": {"metadata": {"labels": labels}, "spec": _pod(image, request, cpus)},
        },
    }


def _pod(image: str, request: SandboxRequest, cpus: float) -> dict[str, Any]:
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 0,
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": boot.USER,
            "runAsGroup": boot.USER,
            "fsGroup": boot.USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(image, request, cpus)],
        "volumes": [
            {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": f"{request.limits.scratch_mb}Mi"}}
        ],
    }


def _container(image: str, request: SandboxRequest, cpus: float) -> dict[str, Any]:
    bounds = {"cpu": f"{int(cpus * 1000)}m", "memory": f"{boot.memory_mb(request)}Mi"}
    return {
        "name": _CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(boot.command()),
        "env": [{"name": name, "value": value} for name, value in boot.ENVIRONMENT.items()],
        "workingDir": boot.SCRATCH,
        "stdin": True,
        "stdinOnce": True,
        "resources": {"limits": bounds, "requests": bounds},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "scratch", "mountPath": boot.SCRATCH}],
    }


def network_policy() -> dict[str, Any]:
    """No way in and no way out for the pods of sandboxes."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": _POLICY},
        "spec": {"podSelector": {"matchLabels": {_LABEL: "true"}}, "policyTypes": ["Ingress", "Egress"]},
    }


def _runs(pod: Any) -> bool:
    """An `OperatorError` if it never will."""
    state = _state(pod)
    waiting = state.get("waiting", {}).get("reason", "")
    if waiting in ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"):
        raise _failed(f"the pod cannot start ({waiting}: {state['waiting'].get('message', 'no reason given')})")
    if "terminated" in state or pod.get("status", {}).get("phase") == "Failed":
        raise _failed("the pod ended before it was given the code")
    return "running" in state


def _state(pod: Any) -> dict[str, Any]:
    """State of the pod's only container: one of `waiting`, `running`, `terminated`."""
    statuses = pod.get("status", {}).get("containerStatuses") or [{}]
    state: dict[str, Any] = statuses[0].get("state") or {}
    return state


def _failed(reason: object) -> OperatorError:
    return OperatorError(f"Kubernetes could not run the code: {reason}.", code="sandbox_failed")
