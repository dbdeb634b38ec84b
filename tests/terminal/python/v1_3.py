"""An agent on the official Python SDK 1.3.0, for the terminal to talk to. Usage: v1_3.py PORT"""

import sys

import uvicorn
from a2a.helpers import new_data_part, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role
from starlette.applications import Starlette
from words import Words

PORT = int(sys.argv[1])
words = Words(
    text=new_text_part,
    data=new_data_part,
    message=lambda said: new_text_message(said, role=Role.ROLE_AGENT),
    task=new_task_from_user_message,
    asking={},
)
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
handler = DefaultRequestHandler(agent_executor=words, task_store=InMemoryTaskStore(), agent_card=card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/rpc")])
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
