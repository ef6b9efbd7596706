"""An agent over the `anthropic` package, with Gauntlet as its hands. The lines with a mark at their end are Gauntlet's.

    GAUNTLET_TOKEN=… ANTHROPIC_API_KEY=… python3 anthropic_agent.py "Summarise notes.md in summary.txt"
"""

import os
import sys

import anthropic

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from gauntlet_client import connect

model = os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5-5")
task = sys.argv[1] if len(sys.argv) > 1 else "Summarise notes.md in summary.txt"
url = os.environ.get("GAUNTLET_URL", "http://127.0.0.1:4747")

client = anthropic.Anthropic()
messages = [{"role": "user", "content": task}]
with connect(url, os.environ["GAUNTLET_TOKEN"], {"rules": {"allow": ["Write"]}}) as gauntlet:  # 1
    tools = gauntlet.tools("anthropic")  # 2
    for _ in range(20):
        with client.messages.stream(model=model, max_tokens=4096, tools=tools, messages=messages) as stream:
            reply = stream.get_final_message()
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason != "tool_use":
            break
        messages += gauntlet.execute(reply).messages  # 3

print("".join(block.text for block in reply.content if block.type == "text"))
