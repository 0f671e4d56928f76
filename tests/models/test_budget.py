"""Budgets are reserved before a call and settled after it, and nothing ever passes a limit."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage
from scripted_model import Reply, ScriptedModel

from answerable.core.breaker import Breaker
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, Principal, RunContext
from answerable.core.errors import AnswerableError, LimitError, TransientError
from answerable.core.ids import RunId, TenantId, UserId
from answerable.models.budget import Budget
from answerable.models.calls import ModelCalled
from answerable.models.config import BudgetLimits, ModelsConfig, Price
from answerable.models.guarded import Caller, CallPolicy, GuardedModel
from answerable.models.names import Target
from answerable.store.base import Store
from answerable.store.open import open_store
from answerable.store.protocols.budgets import Account, Amount, Balance

ADA_TODAY = Account(TenantId("acme"), "user:ada", "2026-11-16")


async def ask(models: Any, context: RunContext, **more: Any) -> None:
    await Agent(models.for_role("reasoning", context)).run("Well?", **more)


async def balance(store: Store, account: Account) -> Balance:
    (found,) = await store.budgets.balances([account])
    return found


async def test_what_was_used_is_settled_in_every_account(
    make: Any, scripted_model: ScriptedModel, store: Store, context: RunContext
) -> None:
    every = ("run", "thread", "user_day", "user_month", "tenant_day", "tenant_month")
    models = make(budget={name: {"tokens": 100_000} for name in every})
    scripted_model.script([Reply.text("yes", usage=(40, 2))])
    await ask(models, context)
    balances = await models.budget.balances(context)
    assert {(one.account.name, one.account.period) for one in balances} == {
        ("run:run_1", ""),
        ("thread:thr_1", ""),
        ("user:ada", "2026-11-16"),
        ("user:ada", "2026-11"),
        ("tenant", "2026-11-16"),
        ("tenant", "2026-11"),
    }
    assert {(one.spent.tokens, one.reserved.tokens) for one in balances} == {(42, 0)}


async def test_a_call_that_might_not_fit_is_not_made(
    make: Any, scripted_model: ScriptedModel, context: RunContext, calls: list[ModelCalled]
) -> None:
    models = make(budget={"run": {"tokens": 500}})
    scripted_model.script(lambda _: Reply.text("yes", usage=(40, 60)))
    await ask(models, context, model_settings={"max_tokens": 400})
    with pytest.raises(LimitError, match=r"budget of the run run_1 has 400 of 500 tokens left") as caught:
        await ask(models, context, model_settings={"max_tokens": 400})
    assert caught.value.stable_code == "budget_exhausted"
    assert (len(scripted_model.requests), len(calls)) == (1, 1)


async def test_a_limit_of_cost(make: Any, scripted_model: ScriptedModel, store: Store, context: RunContext) -> None:
    lab = {"base_url": scripted_model.base_url, "price": {"input": 1000, "output": 2000}}
    models = make(providers={"lab": lab}, budget={"user_day": {"cost": 1.0}})
    scripted_model.script(lambda _: Reply.text("yes", usage=(100, 100)))
    await ask(models, context, model_settings={"max_tokens": 300})
    spent = (await balance(store, ADA_TODAY)).spent
    assert (spent.tokens, spent.cost) == (200, 300_000_000)
    with pytest.raises(LimitError, match=r"user ada for 2026-11-16 has \$0\.7000 of \$1\.0000 left"):
        await ask(models, context, model_settings={"max_tokens": 400})


async def test_a_day_ends(make: Any, scripted_model: ScriptedModel, context: RunContext, clock: Any) -> None:
    models = make(budget={"user_day": {"tokens": 500}})
    scripted_model.script(lambda _: Reply.text("yes", usage=(40, 60)))
    for _ in range(2):
        await ask(models, context, model_settings={"max_tokens": 400})
        with pytest.raises(LimitError):
            await ask(models, context, model_settings={"max_tokens": 400})
        await clock.sleep(86_400)


async def test_users_share_the_budget_of_their_tenant_and_no_other(
    make: Any, scripted_model: ScriptedModel, context: RunContext
) -> None:
    models = make(budget={"tenant_month": {"tokens": 500}})
    scripted_model.script(lambda _: Reply.text("yes", usage=(40, 60)))
    await ask(models, context, model_settings={"max_tokens": 400})
    bob = replace(context, principal=Principal(TenantId("acme"), UserId("bob")))
    eve = replace(context, principal=Principal(TenantId("evil"), UserId("ada")))
    with pytest.raises(LimitError, match="of the tenant for 2026-11 has"):
        await ask(models, bob, model_settings={"max_tokens": 400})
    await ask(models, eve, model_settings={"max_tokens": 400})


async def test_sub_agents_draw_on_the_budget_of_their_run(
    make: Any, scripted_model: ScriptedModel, store: Store, context: RunContext
) -> None:
    models = make(budget={"run": {"tokens": 100_000}})
    scripted_model.script([Reply.tool_call("delegate", {}), Reply.text("inner"), Reply.text("outer")])
    agent = Agent(models.for_role("reasoning", context))

    @agent.tool_plain
    async def delegate() -> str:
        return (await Agent(models.for_role("coding", context)).run("Do it.")).output

    await agent.run("Well?", model_settings={"max_tokens": 100})
    spent = (await balance(store, Account(TenantId("acme"), "run:run_1"))).spent.tokens
    assert spent == sum(len(request.text) // 4 for request in scripted_model.requests) + 1 + 2 + 2


@pytest.mark.parametrize(
    ("reply", "spent"),
    [
        (Reply.status(400), 0),
        (Reply.status(401), 0),
        (Reply.status(500), 0),
        (Reply.malformed(), None),
        (Reply.text("late").slow(15), None),
        (Reply.text("yes", usage=(30, 3)).cut(3), 0),
    ],
)
async def test_a_failed_call_leaves_nothing_reserved(
    make: Any, scripted_model: ScriptedModel, store: Store, context: RunContext, reply: Reply, spent: int | None
) -> None:
    models = make(budget={"user_day": {"tokens": 10_000}}, attempts=1, timeouts={"total": 0.3})
    scripted_model.script([reply])
    with pytest.raises(AnswerableError):
        await ask(models, context, model_settings={"max_tokens": 1000})
    left = await balance(store, ADA_TODAY)
    assert left.reserved == Amount()
    if spent is None:
        assert 1000 < left.spent.tokens < 1200, "it may have been paid for: what was reserved counts"
    else:
        assert left.spent.tokens == spent


async def test_a_cancelled_call_leaves_nothing_reserved(
    make: Any, scripted_model: ScriptedModel, store: Store, context: RunContext
) -> None:
    models = make(budget={"user_day": {"tokens": 10_000}})
    scripted_model.script([Reply.text("late").slow(15)])
    task = asyncio.create_task(ask(models, context, model_settings={"max_tokens": 1000}))
    while not scripted_model.requests:  # noqa: ASYNC110 - the server runs in threads
        await asyncio.sleep(0.01)
    assert (await balance(store, ADA_TODAY)).reserved.tokens > 1000
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await balance(store, ADA_TODAY)).reserved == Amount()


async def test_a_stream_that_nobody_reads_to_the_end_counts_as_far_as_it_came(
    make: Any, scripted_model: ScriptedModel, store: Store, context: RunContext, calls: list[ModelCalled]
) -> None:
    models = make(budget={"user_day": {"tokens": 10_000}})
    scripted_model.script([Reply.text("one two three four five six", gap=0.2)])
    model = models.for_role("reasoning", context)
    async with model.request_stream([], {"max_tokens": 1000}, ModelRequestParameters()) as stream:
        await anext(aiter(stream))
    (call,) = calls
    assert (call.outcome, call.estimated) == ("cancelled", True)
    left = await balance(store, ADA_TODAY)
    assert (left.reserved, left.spent.tokens) == (Amount(), call.input_tokens + call.output_tokens)
    assert 0 < call.output_tokens < 1000


async def test_waits_for_calls_in_progress_to_give_back_what_they_do_not_need(store: Store, clock: Any) -> None:
    budget = Budget(store.budgets, BudgetLimits.model_validate({"run": {"tokens": 100}}), clock)
    accounts = budget.accounts(RunContext(RunId("run_1"), LOCAL))
    first = await budget.reserve(accounts, Amount(90))
    original = clock.sleep

    async def sleep(seconds: float) -> None:
        await original(seconds)
        if len(clock.slept) == 3:
            await budget.settle(first, Amount(10))

    clock.sleep = sleep
    second = await budget.reserve(accounts, Amount(90))
    assert len(clock.slept) == 3
    with pytest.raises(TransientError, match="reserved by calls in progress") as caught:
        await budget.reserve(accounts, Amount(50))
    assert caught.value.stable_code == "budget_reserved"
    await budget.settle(second, Amount(0))


def instant(tokens: tuple[int, int]) -> FunctionModel:
    async def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        await asyncio.sleep(0)
        return ModelResponse([TextPart("yes")], usage=RequestUsage(input_tokens=tokens[0], output_tokens=tokens[1]))

    return FunctionModel(reply)


def guarded(store: Store, caller: Caller, price: Price | None, limits: BudgetLimits, used: tuple[int, int]) -> Model:
    """An instant model that uses so many tokens of at most 84 for its reply."""
    target = Target("lab", "instant", "chat", "http://models.example/v1", price=price)
    clock = SystemClock()
    means = CallPolicy(ModelsConfig(max_output_tokens=84), Budget(store.budgets, limits, clock), clock, Random(1))
    return GuardedModel(instant(used), target, Breaker("lab", clock, 5, 30), means, caller)


async def test_an_unknown_price_leaves_only_limits_of_tokens(
    store: Store, context: RunContext, calls: list[ModelCalled]
) -> None:
    limits = BudgetLimits.model_validate({"run": {"cost": 0.000001, "tokens": 150}})
    model = guarded(store, Caller("coding", context, (calls.append,)), None, limits, (16, 84))
    await model.request([ModelResponse([])], None, ModelRequestParameters())
    assert (calls[0].cost, calls[0].output_tokens) == (None, 84)
    with pytest.raises(LimitError, match="50 of 150 tokens left"):
        await model.request([ModelResponse([])], None, ModelRequestParameters())


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[list[Store]]:
    """The same file, opened as two processes would."""
    stores = [await open_store(tmp_path / "budgets.db", synchronous="normal") for _ in range(2)]
    yield stores
    for store in stores:
        await store.close()


async def test_a_thousand_calls_at_once_overshoot_by_exactly_zero(shared: list[Store], context: RunContext) -> None:
    """Each uses all that it may, so the limit is reached to the token and to the billionth of a dollar."""
    limits = BudgetLimits.model_validate({"run": {"tokens": 25_000}, "tenant_day": {"cost": 184 * 200 / 1e6}})
    used = (16, 84)  # the bound for an empty message, and all of the output
    models = [guarded(one, Caller("coding", context), Price(input=1, output=2), limits, used) for one in shared]
    request: list[ModelMessage] = [ModelResponse([])]

    async def call(number: int) -> bool:
        try:
            await models[number % 2].request(request, None, ModelRequestParameters())
        except LimitError:
            return False
        return True

    done = await asyncio.gather(*(call(number) for number in range(1000)))
    accounts = Budget(shared[0].budgets, limits, SystemClock()).accounts(context)
    balances = await shared[1].budgets.balances([one.account for one in accounts])
    assert sum(done) == 200, "the budget of the day allows 200 calls, that of the run 250"
    assert [(one.spent, one.reserved) for one in balances] == [(Amount(20_000, 200 * 184_000), Amount())] * 2
