"""An agent on the official Python SDK 0.3.26, for the terminal to talk to. Usage: v0_3.py PORT"""

import asyncio
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, DataPart, Part, TextPart
from a2a.utils import new_agent_text_message, new_task

PORT = int(sys.argv[1])


def text(words):
    return Part(root=TextPart(text=words))


class Words(AgentExecutor):
    async def execute(self, context, events):
        words = context.get_user_input()
        if words.startswith("hello"):
            await events.enqueue_event(new_agent_text_message("hello to you \x1b[2J"))
            return
        if not context.current_task:
            await events.enqueue_event(new_task(context.message))
        task = TaskUpdater(events, context.task_id, context.context_id)
        await task.start_work()
        if context.current_task:
            await task.add_artifact([text(f"you said {words}")], artifact_id="answer")
            await task.complete()
        elif words.startswith("read"):
            parts = [text("temperature 21.5 °C"), Part(root=DataPart(data={"value": 21.5}))]
            await task.add_artifact(parts, artifact_id="reading", name="reading")
            await task.complete()
        elif words.startswith("watch"):
            for number in range(3):
                part = [text(f"reading {number}")]
                await task.add_artifact(part, artifact_id="readings", append=number > 0, last_chunk=number == 2)
                await asyncio.sleep(0.05)
            await task.complete()
        elif words.startswith("calibrate"):
            await task.requires_input(task.new_agent_message([text("what should it be?")]), final=True)
        elif words.startswith("fail"):
            await task.failed(task.new_agent_message([text("the sensor is broken")]))
        else:
            await asyncio.sleep(600)

    async def cancel(self, context, events):
        await TaskUpdater(events, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="words",
    description="an agent of the tests",
    version="1.0.0",
    url=f"http://127.0.0.1:{PORT}/",
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="read", name="Read", description="reads", tags=["test"], examples=["read temperature"])],
)
handler = DefaultRequestHandler(agent_executor=Words(), task_store=InMemoryTaskStore())
app = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
