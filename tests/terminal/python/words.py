"""What the agents on the Python SDKs say and do. Each file beside this one gives it the words of its version; ../cases.py says
what the terminal makes of it.
"""

import asyncio

from a2a.server.agent_execution import AgentExecutor
from a2a.server.tasks import TaskUpdater


class Words(AgentExecutor):
    """`text` and `data` make parts, `message` a direct message, `task` a task; `asking` is said beside a question."""

    def __init__(self, *, text, data, message, task, asking):
        self.text, self.data, self.message, self.task, self.asking = text, data, message, task, asking

    async def execute(self, context, events):
        words = context.get_user_input()
        if words.startswith("hello"):
            await events.enqueue_event(self.message("hello to you \x1b[2J"))
            return
        if not context.current_task:
            await events.enqueue_event(self.task(context.message))
        task = TaskUpdater(events, context.task_id, context.context_id)
        await task.start_work()
        if context.current_task:
            await task.add_artifact([self.text(f"you said {words}")], artifact_id="answer")
            await task.complete()
        elif words.startswith("read"):
            parts = [self.text("temperature 21.5 °C"), self.data({"value": 21.5})]
            await task.add_artifact(parts, artifact_id="reading", name="reading")
            await task.complete()
        elif words.startswith("watch"):
            for number in range(3):
                part = [self.text(f"reading {number}")]
                await task.add_artifact(part, artifact_id="readings", append=number > 0, last_chunk=number == 2)
                await asyncio.sleep(0.05)
            await task.complete()
        elif words.startswith("calibrate"):
            await task.requires_input(task.new_agent_message([self.text("what should it be?")]), **self.asking)
        elif words.startswith("fail"):
            await task.failed(task.new_agent_message([self.text("the sensor is broken")]))
        else:
            await asyncio.sleep(600)

    async def cancel(self, context, events):
        await TaskUpdater(events, context.task_id, context.context_id).cancel()
