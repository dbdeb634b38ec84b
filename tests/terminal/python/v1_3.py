"""An agent on the official Python SDK 1.3.0, for the terminal to talk to. Usage: v1_3.py PORT

What it says and does is the same in all four of these agents; ../cases.py says what the terminal makes of it.
"""

import asyncio
import sys

import uvicorn
from a2a.helpers import new_data_part, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role
from starlette.applications import Starlette

PORT = int(sys.argv[1])


class Words(AgentExecutor):
    async def execute(self, context, events):
        words = context.get_user_input()
        if words.startswith("hello"):
            await events.enqueue_event(new_text_message("hello to you \x1b[2J", role=Role.ROLE_AGENT))
            return
        if not context.current_task:
            await events.enqueue_event(new_task_from_user_message(context.message))
        task = TaskUpdater(events, context.task_id, context.context_id)
        await task.start_work()
        if context.current_task:
            await task.add_artifact([new_text_part(f"you said {words}")], artifact_id="answer")
            await task.complete()
        elif words.startswith("read"):
            parts = [new_text_part("temperature 21.5 °C"), new_data_part({"value": 21.5})]
            await task.add_artifact(parts, artifact_id="reading", name="reading")
            await task.complete()
        elif words.startswith("watch"):
            for number in range(3):
                part = [new_text_part(f"reading {number}")]
                await task.add_artifact(part, artifact_id="readings", append=number > 0, last_chunk=number == 2)
                await asyncio.sleep(0.05)
            await task.complete()
        elif words.startswith("calibrate"):
            await task.requires_input(task.new_agent_message([new_text_part("what should it be?")]))
        elif words.startswith("fail"):
            await task.failed(task.new_agent_message([new_text_part("the sensor is broken")]))
        else:
            await asyncio.sleep(600)

    async def cancel(self, context, events):
        await TaskUpdater(events, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="words",
    description="an agent of the tests",
    version="1.0.0",
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{PORT}/rpc", protocol_binding="JSONRPC", protocol_version="1.0")
    ],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="read", name="Read", description="reads", tags=["test"], examples=["read temperature"])],
)
handler = DefaultRequestHandler(agent_executor=Words(), task_store=InMemoryTaskStore(), agent_card=card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/rpc")])
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
