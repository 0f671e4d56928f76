"""What can be asked."""

from typing import Annotated

from fastapi import APIRouter, Path

from answerable.core.catalog import Catalog
from answerable.gateway.access import PrincipalOf, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Dataset, DatasetList

router = APIRouter(prefix=API, tags=["datasets"], route_class=OnceRoute, dependencies=[within("ask")])


@router.get("/datasets")
async def datasets(service: ServiceOf, principal: PrincipalOf) -> DatasetList:
    """List the names of the sources that can be asked."""
    names = service.sources.names(principal)
    return DatasetList(datasets=[Dataset(id=name, default=name == service.sources.default) for name in names])


@router.get("/datasets/{dataset_id}/schema", responses=documented(404, 422, 502))
async def schema(
    dataset_id: Annotated[str, Path(max_length=200)], service: ServiceOf, principal: PrincipalOf
) -> Catalog:
    """Describe a source: its tables, columns, keys, relationships and measures."""
    return await service.sources.describe(dataset_id, principal)
