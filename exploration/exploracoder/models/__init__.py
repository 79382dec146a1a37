"""Chat models: any OpenAI-compatible server, the embedded model, usage, and the reply cache."""

from exploracoder.models.cache import ReplyCache
from exploracoder.models.chat import ChatModel, Message, Reply, Sampling, Schema
from exploracoder.models.local import EmbeddedModel, model_status
from exploracoder.models.openai_client import OpenAIChatModel
from exploracoder.models.structured import complete_json
from exploracoder.models.tools import Tool, complete_with_tools
from exploracoder.models.usage import Usage

__all__ = [
    "ChatModel",
    "EmbeddedModel",
    "Message",
    "OpenAIChatModel",
    "Reply",
    "ReplyCache",
    "Sampling",
    "Schema",
    "Tool",
    "Usage",
    "complete_json",
    "complete_with_tools",
    "model_status",
]
