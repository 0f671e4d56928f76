"""Who is asking, and what a route may use: a route's parameter list is its access rule."""

import asyncio
from typing import Annotated

from fastapi import Depends, Path, Request

from answerable.answers.view import Views
from answerable.core.context import LOCAL, Principal
from answerable.core.ids import RunId, ThreadId
from answerable.gateway.measuring import Measuring
from answerable.gateway.wire import RUN_ID, THREAD_ID
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources.added import AddedSources
from answerable.sources.watch import Watch


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _views(request: Request) -> Views:
    views: Views = request.app.state.views
    return views


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def _watch(request: Request) -> Watch:
    watch: Watch = request.app.state.watch
    return watch


def _editing(request: Request) -> asyncio.Lock:
    lock: asyncio.Lock = request.app.state.editing
    return lock


def _measuring(request: Request) -> Measuring:
    measuring: Measuring = request.app.state.measuring
    return measuring


def _added(request: Request) -> AddedSources:
    return _settings(request).added_sources


def _principal() -> Principal:
    """Everyone is the one local user until identities are configured."""
    return LOCAL


def _request_id(request: Request) -> str:
    request_id: str = request.scope["request_id"]
    return request_id


ServiceOf = Annotated[Service, Depends(_service)]
SettingsOf = Annotated[Settings, Depends(_settings)]
WatchOf = Annotated[Watch, Depends(_watch)]
EditingOf = Annotated[asyncio.Lock, Depends(_editing)]
"""Held by whoever reads a semantic file in order to change it."""
MeasuringOf = Annotated[Measuring, Depends(_measuring)]
AddedOf = Annotated[AddedSources, Depends(_added)]
ViewsOf = Annotated[Views, Depends(_views)]
PrincipalOf = Annotated[Principal, Depends(_principal)]
RequestId = Annotated[str, Depends(_request_id)]
RunPath = Annotated[RunId, Path(pattern=RUN_ID)]
SourcePath = Annotated[str, Path(min_length=1, max_length=200)]
TablePath = Annotated[str, Path(min_length=1, max_length=500)]
ThreadPath = Annotated[ThreadId, Path(pattern=THREAD_ID)]
