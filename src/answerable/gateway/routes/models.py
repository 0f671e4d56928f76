"""Language models: which are set, trying them, changing them. Keys are taken and never given."""

from fastapi import APIRouter
from pydantic import ConfigDict, Field, SecretStr

from answerable.gateway.access import PrincipalOf, ServiceOf, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.models.config import BudgetLimits
from answerable.models.editing import NewModel
from answerable.service.models import ModelCheck, ModelOrder, ModelsOverview

router = APIRouter(prefix=API, tags=["setup"], route_class=OnceRoute, dependencies=[needs("administer")])
CHANGED = documented(400, 403, 413, 422, 503)


BUILT = ConfigDict(defer_build=False)
"""Bodies of requests are checked at once: FastAPI cannot wait for their first use."""


class ModelToAdd(NewModel):
    model_config = BUILT


class WantedOrder(ModelOrder):
    model_config = BUILT


class WantedBudget(BudgetLimits):
    model_config = BUILT


class ModelToCheck(Wire):
    name: str = Field(min_length=1, max_length=200)


class ModelKey(Wire):
    name: str = Field(min_length=1, max_length=200, description="A model of the provider that the key is for.")
    key: SecretStr = Field(min_length=1, max_length=10_000)


class Sharing(Wire):
    rows: bool


@router.get("/models")
async def models(service: ServiceOf, principal: PrincipalOf) -> ModelsOverview:
    """Show which language models are set, what is sent to them, and what they may cost."""
    return service.models.overview(principal)


@router.post("/models", responses=CHANGED)
async def add(body: ModelToAdd, service: ServiceOf, principal: PrincipalOf) -> ModelsOverview:
    """Add a model. Its key is written to the settings of the server, and never shown."""
    return await service.models.add(body, principal)


@router.post("/models/check", responses=documented(400, 404, 413, 422, 503))
async def check(body: ModelToCheck, service: ServiceOf, principal: PrincipalOf) -> ModelCheck:
    """Test a model with small requests, which cost a fraction of a cent."""
    [checked] = await service.models.check(principal, name=body.name)
    return checked


@router.post("/models/check-new", responses=CHANGED)
async def check_new(body: ModelToAdd, service: ServiceOf, principal: PrincipalOf) -> ModelCheck:
    """Test a model before it is added. Nothing is written."""
    return await service.models.check_new(body, principal)


@router.put("/models/order", responses=CHANGED)
async def arrange(body: WantedOrder, service: ServiceOf, principal: PrincipalOf) -> ModelsOverview:
    """Put the models in order. One that is left out is removed."""
    return await service.models.arrange(body, principal)


@router.put("/models/key", responses=CHANGED)
async def replace_key(body: ModelKey, service: ServiceOf, principal: PrincipalOf) -> ModelsOverview:
    """Write another key for the provider of a model."""
    return await service.models.replace_key(body.name, body.key, principal)


@router.put("/models/sharing", responses=CHANGED)
async def share(body: Sharing, service: ServiceOf, principal: PrincipalOf) -> ModelsOverview:
    """Set whether values and sample records of the data are sent to a model."""
    return await service.models.share(body.rows, principal)


@router.put("/models/budget", responses=CHANGED)
async def set_budget(body: WantedBudget, service: ServiceOf, principal: PrincipalOf) -> ModelsOverview:
    """Set how much models may cost."""
    return await service.models.set_budget(body, principal)
