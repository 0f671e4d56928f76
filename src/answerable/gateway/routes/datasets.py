"""What can be asked."""

from typing import Annotated

from fastapi import APIRouter, Path

from answerable.core.catalog import Catalog
from answerable.gateway.access import ServiceOf
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Dataset, DatasetList

router = APIRouter(prefix=API, tags=["datasets"])


@router.get("/datasets")
async def datasets(service: ServiceOf) -> DatasetList:
    """The sources that may be asked, by name."""
    return DatasetList(
        datasets=[Dataset(id=name, default=name == service.default_source) for name in service.registry.names]
    )


@router.get("/datasets/{dataset_id}/schema", responses=documented(404, 422, 502))
async def schema(dataset_id: Annotated[str, Path(max_length=200)], service: ServiceOf) -> Catalog:
    """Tables, columns, keys, relationships and measures, as they were understood."""
    return await (await service.registry.get(dataset_id)).describe()
