"""binding.py - the rule that Anthropic's API has for reasoning: it is bound to what stood before it.

A thinking block may only go back when system, tools and all that comes before it are what they were
when it was made. The scripted model signs its thoughts with a hash of that, and every request is
judged by it, whatever process or version of keel has made it.
"""
import base64
import hashlib
import json

PATH = "/v1/messages"


def blocks(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def plain(value):
    """Without marks that say what to keep in a cache: they move, and nobody checks them."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items() if name != "cache_control"}
    return [plain(item) for item in value] if isinstance(value, list) else value


def sign(body, n_messages=None):
    """The signature of thoughts that answer to these first messages of a request."""
    messages = [[message["role"], blocks(message["content"])]
                for message in body["messages"][:n_messages]]
    seen = [body["model"], body.get("system"), body.get("tools"), messages]
    text = json.dumps(plain(seen), sort_keys=True)
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def find_moved(body):
    """Why the API refuses a request: a thought that does not stand where it was; None: it does not."""
    for n, message in enumerate(body.get("messages", [])):
        if message["role"] != "assistant":
            continue
        for block in blocks(message["content"]):
            if block["type"] == "thinking" and block.get("signature") != sign(body, n):
                return (f"messages.{n}: the thinking block was made behind another prefix: "
                        f"{block.get('thinking')!r}")
    return None
