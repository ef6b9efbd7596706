"""An agent over the `openai` package, with Gauntlet as its hands. The lines with a mark at their end are Gauntlet's.

    GAUNTLET_TOKEN=… OPENAI_API_KEY=… python3 openai_agent.py "Summarise notes.md in summary.txt"
"""

import os
import sys

import openai

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from gauntlet_client import connect

model = os.environ.get("OPENAI_MODEL", "gpt-5")
task = sys.argv[1] if len(sys.argv) > 1 else "Summarise notes.md in summary.txt"
url = os.environ.get("GAUNTLET_URL", "http://127.0.0.1:4747")

client = openai.OpenAI()
messages = [{"role": "user", "content": task}]
with connect(url, os.environ["GAUNTLET_TOKEN"], {"rules": {"allow": ["Write"]}}) as gauntlet:  # 1
    tools = gauntlet.tools("openai-chat")  # 2
    for _ in range(20):
        with client.chat.completions.stream(model=model, tools=tools, messages=messages) as stream:
            message = stream.get_final_completion().choices[0].message
        messages.append(message)
        if not message.tool_calls:
            break
        messages += gauntlet.execute(message).messages  # 3

print(message.content)
