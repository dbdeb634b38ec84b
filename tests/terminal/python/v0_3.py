"""An agent on the official Python SDK 0.3.26, for the terminal to talk to. Usage: v0_3.py PORT"""

import sys

import uvicorn
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, DataPart, Part, TextPart
from a2a.utils import new_agent_text_message, new_task
from words import Words

PORT = int(sys.argv[1])
words = Words(
    text=lambda said: Part(root=TextPart(text=said)),
    data=lambda data: Part(root=DataPart(data=data)),
    message=new_agent_text_message,
    task=new_task,
    asking={"final": True},
)
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
handler = DefaultRequestHandler(agent_executor=words, task_store=InMemoryTaskStore())
app = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
