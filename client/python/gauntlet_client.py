"""Client of a Gauntlet server: one file, the standard library alone, Python 3.9 or later.

    with connect("http://127.0.0.1:4747", token) as gauntlet:
        print(gauntlet.run("Glob", {"pattern": "*.md"}).text)

`execute` takes what a model replied (of the Messages API, Chat Completions, Responses or Gemini, as objects of their
packages or as plain JSON) and gives the messages to append to the conversation.
"""

from __future__ import annotations

import base64
import http.client
import json
import queue
import re
import ssl
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Set, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["connect", "anthropic_tools", "Gauntlet", "Execution", "Result", "GauntletError"]

Json = Dict[str, Any]
#: Gets the frame of a question and returns true to allow the call, a text to deny it for that reason, a body of
#: `POST /sessions/{id}/prompts/{request_id}` to say more, and anything else to deny it.
OnAsk = Callable[[Json], Any]
#: Gets each `progress` frame.
OnProgress = Callable[[Json], Any]

#: The server sends something every 15 s. After this silence the connection counts as cut.
SILENCE_S = 60.0
#: How long requests that are neither streamed nor a batch may take.
REQUEST_S = 60.0
#: How long a server may be out of reach, for example while it starts again, before a batch is given up.
UNREACHABLE_S = 30.0
#: An interrupted program waits so long for the server to hear of it.
CANCEL_S = 5.0
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0
#: Longest line of a stream, and longest reply: several images fit in.
MAX_REPLY_BYTES = 256 * 1024 * 1024
#: Too much at once, and a server that restarts or is full: the same request may succeed later.
TRY_AGAIN = (429, 503)


class GauntletError(Exception):
    """A refusal of the server, with the code of its error body, or one of this client.

    Codes of this client have status 0: `unreachable`, `bad_reply`, `closed`, and `invalid_request` for what was not
    sent.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: int = 0,
        details: Optional[Json] = None,
        request_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.details: Json = details or {}
        self.request_id = request_id


@dataclass(frozen=True)
class Result:
    """The result of one call. `content` is that of a `tool_result` block, `status` and `error_code` as in `calls`."""

    content: Union[str, List[Json]]
    is_error: bool
    status: str
    error_code: Optional[str] = None

    @property
    def text(self) -> str:
        """All text, without images and documents."""
        return _text_of(self.content)

    @property
    def images(self) -> List[bytes]:
        """The images, decoded."""
        return [base64.b64decode(block["source"]["data"]) for block in _images_in(self.content)]


@dataclass(frozen=True)
class Execution:
    """The results of a batch under the model's own ids, in the order of its calls."""

    session_id: str
    turn_id: str
    #: `tool_result` blocks.
    results: List[Json] = field(default_factory=list)
    #: How each call ended: `tool_use_id`, `name`, `status`, `error_code` and more.
    calls: List[Json] = field(default_factory=list)
    #: What to append to the conversation, behind the model's own message and in the same API's words.
    messages: List[Json] = field(default_factory=list)


def connect(
    url: str,
    token: str,
    session: Union[None, str, Mapping[str, Any]] = None,
    on_ask: Optional[OnAsk] = None,
    on_progress: Optional[OnProgress] = None,
) -> Gauntlet:
    """Open a session of a server.

    `session` is the id of one, or fields of `POST /sessions` (`cwd`, `mode`, `rules` and others) for a new one. With
    `on_ask` calls wait for its answers, which come one at a time from a thread of their own.

    Raises `GauntletError` if the server cannot be reached or refuses.
    """
    gauntlet = Gauntlet(url, token, on_ask, on_progress)
    if isinstance(session, str):
        gauntlet.session_id = gauntlet.request("GET", f"/sessions/{quote(session, safe='')}")["session_id"]
    else:
        gauntlet.session_id = gauntlet.request("POST", "/sessions", dict(session or {}))["session_id"]
    return gauntlet


class Gauntlet:
    """A session of a server. Threads may share it. `connect` makes one."""

    def __init__(
        self, url: str, token: str, on_ask: Optional[OnAsk] = None, on_progress: Optional[OnProgress] = None
    ) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise GauntletError("invalid_request", f'"url" is "{url}": name an address such as http://127.0.0.1:4747')
        if not isinstance(token, str) or not token.strip().isprintable() or not token.strip():
            raise GauntletError("invalid_request", '"token" is no printable text: name the token of the server')
        self.session_id = ""
        self.on_ask = on_ask
        self.on_progress = on_progress
        self._address = address
        self._token = token.strip()
        self._running: Set[_Turn] = set()
        self._closed = False
        self._schemas: Optional[Dict[str, Any]] = None

    def __enter__(self) -> Gauntlet:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def tools(self, format: str = "anthropic", **query: Any) -> List[Json]:
        """List the tools as an API takes them: `anthropic`, `openai-chat`, `openai-responses`, `mcp` and others.

        Further arguments are parameters of `GET /tools`. With `schemas=None` tools may be deferred.
        """
        parameters = {"session_id": self.session_id, "schemas": "full", **query, "format": format}
        given = {name: value for name, value in parameters.items() if value is not None}
        listed: List[Json] = self.request("GET", f"/tools?{urlencode(given)}")["tools"]
        return listed

    def execute(self, reply: Any, turn_id: Optional[str] = None) -> Execution:
        """Execute the calls of a model's reply, and wait for their results.

        `reply` is a message or a whole reply, an object of the `anthropic` or `openai` package or plain JSON, or a
        list: `tool_use` blocks, `tool_calls`, items of `output` or `function_calls`. Without calls nothing is sent.

        Each batch is a turn of its own, in which ids of the model count: they may repeat in the next, or be missing.
        The same `turn_id` and calls again give the results of the first time, for example after a crash.

        A cut connection is taken up again where it broke off. An interrupt (Ctrl-C) or an error of `on_progress`
        cancels the calls.
        """
        batch = _batch_of(reply)
        turn = _Turn(turn_id or f"turn_{uuid.uuid4().hex}", batch.calls)
        if not batch.calls:
            return Execution(self.session_id, turn.turn_id)
        for call in batch.calls:
            call.block["input"] = self._without_nulls(call.block.get("name"), call.block.get("input"))
        body: Json = {"session_id": self.session_id, "turn_id": turn.turn_id, **batch.body()}
        if self.on_ask is not None:
            body["on_ask"] = "wait"
        self._follow(turn, body)
        return _execution(self.session_id, turn, batch)

    def run(self, name: str, input: Optional[Mapping[str, Any]] = None) -> Result:
        """Execute one call. A call that fails or is denied is a result with `is_error`."""
        execution = self.execute([{"type": "tool_use", "name": name, "input": dict(input or {})}])
        [result], [call] = execution.results, execution.calls
        return Result(result.get("content", ""), bool(result.get("is_error")), call["status"], call.get("error_code"))

    def cancel(self) -> None:
        """Cancel the calls that run for this object; `execute`, in other threads, returns what became of them."""
        for turn in list(self._running):
            turn.is_cancelled = True
            self._cancel(turn)

    def close(self) -> None:
        """Cancel what runs and refuse what comes. The session stays on the server."""
        self._closed = True
        self.cancel()

    def request(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        """Send a request to any route of the server, and return the JSON of its reply."""
        connection = self._connection(REQUEST_S)
        try:
            text = self._send(connection, method, path, body).read(MAX_REPLY_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()
        return _parsed(text)

    def _follow(self, turn: _Turn, body: Json) -> None:
        """Run a turn to its end."""
        asking = _Asking(self, self.on_ask, turn)
        self._running.add(turn)
        try:
            for frame in self._frames(turn, body, asking):
                if turn.is_cancelled and not turn.is_known:
                    # It was cancelled before the server had it.
                    self._cancel(turn)
                turn.is_known = True
                asking.take(frame)
                if frame.get("type") == "progress" and self.on_progress is not None:
                    self.on_progress(turn.in_the_models_ids(frame))
                turn.take(frame)
        except GauntletError:
            raise
        except BaseException:
            self._cancel(turn)
            raise
        finally:
            self._running.discard(turn)
            asking.end()
        if asking.error is not None:
            raise asking.error
        if not turn.is_complete():
            message = f"The server no longer has all results of turn {turn.turn_id}"
            raise GauntletError("gone", message, details={"turn_id": turn.turn_id})

    def _frames(self, turn: _Turn, body: Json, asking: _Asking) -> Iterator[Json]:
        """Yield the frames of a turn up to its end, over as many connections as it takes."""
        last_event = ""
        give_up_at: Optional[float] = None
        pause_s = FIRST_PAUSE_S
        while True:
            connection = self._connection(SILENCE_S)
            problem = GauntletError("unreachable", f"{self._origin()} closed the connection")
            try:
                headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_event} if last_event else {})}
                if last_event:
                    response = self._send(connection, "GET", f"/sessions/{self.session_id}/events", None, headers)
                else:
                    # The same ids again join what an earlier attempt may have started.
                    response = self._send(connection, "POST", "/execute", body, headers)
                    if give_up_at is not None:
                        asking.look()
                for event, frame in _events(response):
                    give_up_at, pause_s = None, FIRST_PAUSE_S
                    last_event = event or last_event
                    if turn.owns(frame):
                        yield frame
                    if frame.get("type") == "turn_end" and frame.get("turn_id") == turn.turn_id:
                        return
            except (OSError, http.client.HTTPException) as error:
                problem = self._unreachable(error)
                if isinstance(error, ssl.SSLCertVerificationError):
                    raise problem from error
            except GauntletError as error:
                if error.status not in TRY_AGAIN and error.code != "unreachable":
                    raise
                problem = error
            finally:
                connection.close()
            give_up_at = give_up_at or time.monotonic() + UNREACHABLE_S
            if time.monotonic() > give_up_at:
                raise problem
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _cancel(self, turn: _Turn) -> None:
        """Tell the server; a failure changes nothing for the caller, who has stopped waiting or waits on."""
        connection = self._connection(CANCEL_S, even_closed=True)
        try:
            self._send(connection, "POST", f"/sessions/{self.session_id}/cancel", {"turn_id": turn.turn_id}).read()
        except (OSError, http.client.HTTPException, GauntletError):
            pass  # Out of reach, or the turn is not known yet: then it is told again with the first frame.
        finally:
            connection.close()

    def _without_nulls(self, name: Any, input: Any) -> Any:
        """Drop the nulls that models send for optional fields (in OpenAI's strict mode they must)."""
        if not _has_null(input):
            return input
        if self._schemas is None:
            self._schemas = {tool["name"]: tool.get("input_schema") for tool in self.tools("anthropic")}
        return _drop_nulls(input, self._schemas.get(name))

    def _connection(self, timeout_s: float, even_closed: bool = False) -> http.client.HTTPConnection:
        if self._closed and not even_closed:
            raise GauntletError("closed", "This client is closed: connect again")
        is_secure = self._address.scheme == "https"
        kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        return kind(self._address.hostname or "", self._address.port, timeout=timeout_s)

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> http.client.HTTPResponse:
        """Send a request, and return its reply unless it is a refusal."""
        sent = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", **(headers or {})}
        content = None if body is None else json.dumps(body, default=_plain).encode("utf-8", "surrogatepass")
        if content is not None:
            sent["Content-Type"] = "application/json"
        connection.request(method, self._address.path.rstrip("/") + path, content, sent)
        response = connection.getresponse()
        if response.status < 300:
            return response
        reply = _parsed(response.read(MAX_REPLY_BYTES), response.status)
        error = reply.get("error") or {}
        raise GauntletError(
            error.get("code", "bad_reply"),
            error.get("message", f"{self._origin()} replied with status {response.status}"),
            response.status,
            error.get("details"),
            reply.get("request_id"),
        )

    def _origin(self) -> str:
        return f"{self._address.scheme}://{self._address.netloc.rpartition('@')[2]}"

    def _unreachable(self, error: Exception) -> GauntletError:
        return GauntletError("unreachable", f"Cannot reach {self._origin()}: {error or type(error).__name__}")


class _Call:
    """A call of the model, under an id that is used once in the session."""

    def __init__(self, block: Json, model_id: Optional[str]) -> None:
        self.block = block
        self.model_id = model_id


class _Turn:
    """What is known of a batch while it runs."""

    def __init__(self, turn_id: str, calls: List[_Call]) -> None:
        self.turn_id = turn_id
        self.is_cancelled = False
        #: The server has sent a frame of it.
        self.is_known = False
        #: By id: the last frame of type `result`.
        self.results: Dict[str, Json] = {}
        self._model_ids: Dict[str, Optional[str]] = {}
        for index, call in enumerate(calls):
            unique = uuid.uuid5(uuid.NAMESPACE_OID, f"{turn_id}\n{index}\n{call.model_id}").hex
            call.block["id"] = f"call_{unique}"
            self._model_ids[call.block["id"]] = call.model_id or call.block["id"]
        self._ids = set(self._model_ids)

    def owns(self, frame: Json) -> bool:
        """Whether a frame of the session belongs to this turn, inner calls and child sessions included."""
        ids = (frame.get("tool_use_id"), frame.get("parent_tool_use_id"))
        is_ours = frame.get("turn_id") == self.turn_id or any(one in self._ids for one in ids)
        if is_ours and frame.get("type") == "tool_use":
            self._ids.add(frame["tool_use"]["id"])
        return is_ours

    def take(self, frame: Json) -> None:
        if frame.get("type") == "result":
            self.results[frame["tool_use_id"]] = frame

    def is_complete(self) -> bool:
        return self._model_ids.keys() <= self.results.keys()

    def in_the_models_ids(self, frame: Json) -> Json:
        names = ("tool_use_id", "parent_tool_use_id")
        return {**frame, **{name: self._model_ids.get(frame[name], frame[name]) for name in names if name in frame}}


class _Asking:
    """Asks the questions of a turn, one after the other, on a thread that starts with the first."""

    def __init__(self, gauntlet: Gauntlet, on_ask: Optional[OnAsk], turn: _Turn) -> None:
        self.error: Optional[BaseException] = None
        self._gauntlet = gauntlet
        self._on_ask = on_ask
        self._turn = turn
        self._questions: queue.Queue[Optional[Json]] = queue.Queue()
        self._known: Set[str] = set()
        self._settled: Set[str] = set()
        self._thread: Optional[threading.Thread] = None

    def take(self, frame: Json) -> None:
        if frame.get("type") == "permission_resolved":
            self._settled.add(frame["request_id"])
        if frame.get("type") != "permission_request" or self._on_ask is None or frame["request_id"] in self._known:
            return
        self._known.add(frame["request_id"])
        self._questions.put(self._turn.in_the_models_ids(frame))
        if self._thread is None:
            self._thread = threading.Thread(target=self._ask_all, args=(self._on_ask,), daemon=True)
            self._thread.start()

    def look(self) -> None:
        """Take questions that were asked while nobody listened."""
        if self._on_ask is None:
            return
        for prompt in self._gauntlet.request("GET", f"/sessions/{self._gauntlet.session_id}/prompts")["prompts"]:
            frame = {**prompt, "type": "permission_request"}
            if self._turn.owns(frame):
                self.take(frame)

    def end(self) -> None:
        """Ask nothing more; a person who is being asked is not waited for."""
        self._questions.put(None)

    def _ask_all(self, on_ask: OnAsk) -> None:
        for question in iter(self._questions.get, None):
            if question["request_id"] in self._settled:
                continue
            try:
                answer = _answer_body(on_ask(question))
            except BaseException as error:  # Raised by `execute`, once the call is denied.
                self.error = self.error or error
                answer = {"behavior": "deny", "message": "The person could not be asked"}
            try:
                path = f"/sessions/{self._gauntlet.session_id}/prompts/{quote(question['request_id'], safe='')}"
                self._gauntlet.request("POST", path, answer)
            except GauntletError as error:
                # Somebody else was faster, the call was cancelled, or the question has expired.
                if error.status in (404, 409, 410) or error.code == "closed":
                    continue
                self.error = self.error or error
                self._gauntlet._cancel(self._turn)


class _Batch:
    """The calls of a reply, and the words of the API that it came from."""

    def __init__(self, api: str, calls: List[_Call], message: Optional[Json] = None) -> None:
        self.api = api
        self.calls = calls
        self._message = message

    def body(self) -> Json:
        """What `POST /execute` takes. Tools see the whole message where there is one."""
        if self._message is None:
            return {"tool_uses": [call.block for call in self.calls]}
        return {"message": self._message}


def _batch_of(reply: Any) -> _Batch:
    given = json.loads(json.dumps(reply, default=_plain))
    if isinstance(given, dict) and given.get("choices"):
        given = given["choices"][0].get("message")
    if isinstance(given, dict) and given.get("candidates"):
        given = given["candidates"][0].get("content")
    if isinstance(given, dict) and "parts" in given:
        given = [part for part in given["parts"] or [] if part.get("functionCall") or part.get("function_call")]
        given = [part.get("functionCall") or part["function_call"] for part in given]
    elif isinstance(given, dict) and isinstance(given.get("output"), list):
        given = [item for item in given["output"] if item.get("type") == "function_call"]
    elif isinstance(given, dict) and isinstance(given.get("content"), list) and not given.get("tool_calls"):
        return _message_batch(given)
    elif isinstance(given, dict) and ("tool_calls" in given or "content" in given):
        given = given.get("tool_calls") or []
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise GauntletError("invalid_request", "Cannot execute this: hand in a reply, a message or a list of calls")
    return _list_batch(given)


def _message_batch(message: Json) -> _Batch:
    blocks = [block for block in message["content"] if block.get("type") == "tool_use"]
    return _Batch("anthropic", [_Call(block, block.get("id")) for block in blocks], message)


def _list_batch(items: List[Json]) -> _Batch:
    if any("function" in item for item in items):
        return _Batch("openai-chat", [_function_call(item["function"], item.get("id")) for item in items])
    if any(item.get("type") == "function_call" or "call_id" in item for item in items):
        calls = [item for item in items if item.get("type", "function_call") == "function_call"]
        return _Batch("openai-responses", [_function_call(item, item.get("call_id")) for item in calls])
    if any("args" in item for item in items) or (items and all("input" not in item for item in items)):
        return _Batch("gemini", [_gemini_call(item) for item in items])
    return _Batch("anthropic", [_Call({**item, "type": "tool_use"}, item.get("id")) for item in items])


def _function_call(function: Json, model_id: Optional[str]) -> _Call:
    """Make a call of OpenAI's shape. Arguments that are no JSON fail at the tool, so that the model reads why."""
    given = function.get("arguments")
    try:
        input = (json.loads(given) if given.strip() else {}) if isinstance(given, str) else given or {}
    except ValueError:
        input = given
    return _Call({"type": "tool_use", "name": function.get("name"), "input": input}, model_id)


def _gemini_call(item: Json) -> _Call:
    return _Call({"type": "tool_use", "name": item.get("name"), "input": item.get("args") or {}}, item.get("id"))


def _execution(session_id: str, turn: _Turn, batch: _Batch) -> Execution:
    frames = [turn.in_the_models_ids(turn.results[call.block["id"]]) for call in batch.calls]
    results = [{**frame["tool_result"], "tool_use_id": frame["tool_use_id"]} for frame in frames]
    calls = [{**frame["call"], "tool_use_id": frame["tool_use_id"]} for frame in frames]
    added = [message for frame in frames for message in frame.get("new_messages") or []]
    messages = _MESSAGES[batch.api](results, batch.calls) + [_added(message, batch.api) for message in added]
    return Execution(session_id, turn.turn_id, results, calls, messages)


def _anthropic_messages(results: List[Json], _calls: List[_Call]) -> List[Json]:
    return [{"role": "user", "content": results}]


def _chat_messages(results: List[Json], _calls: List[_Call]) -> List[Json]:
    """A tool message holds text alone, so images follow in a message of the user."""
    answers = [
        {"role": "tool", "tool_call_id": result["tool_use_id"], "content": _marked_text(result)} for result in results
    ]
    parts = [
        {"type": "image_url", "image_url": {"url": _data_url(image)}}
        for result in results
        for image in _images_in(result.get("content", ""))
    ]
    note = {"type": "text", "text": "Images of the results above:"}
    return [*answers, {"role": "user", "content": [note, *parts]}] if parts else answers


def _responses_items(results: List[Json], _calls: List[_Call]) -> List[Json]:
    return [
        {"type": "function_call_output", "call_id": result["tool_use_id"], "output": _responses_output(result)}
        for result in results
    ]


def _responses_output(result: Json) -> Union[str, List[Json]]:
    images = _images_in(result.get("content", ""))
    text = _marked_text(result)
    if not images:
        return text
    parts: List[Json] = [{"type": "input_text", "text": text}] if text else []
    return parts + [{"type": "input_image", "image_url": _data_url(image), "detail": "auto"} for image in images]


def _gemini_contents(results: List[Json], calls: List[_Call]) -> List[Json]:
    parts: List[Json] = []
    for result, call in zip(results, calls):
        key = "error" if result.get("is_error") else "output"
        named = {"name": call.block["name"], "response": {key: _text_of(result.get("content", ""))}}
        parts.append({"functionResponse": {**({"id": call.model_id} if call.model_id else {}), **named}})
        for image in _images_in(result.get("content", "")):
            source = image["source"]
            parts.append({"inlineData": {"mimeType": source["media_type"], "data": source["data"]}})
    return [{"role": "user", "parts": parts}]


_MESSAGES: Dict[str, Callable[[List[Json], List[_Call]], List[Json]]] = {
    "anthropic": _anthropic_messages,
    "openai-chat": _chat_messages,
    "openai-responses": _responses_items,
    "gemini": _gemini_contents,
}


def _added(message: Json, api: str) -> Json:
    """A message that a tool adds to the conversation, in the words of the API."""
    text = _text_of(message["content"])
    if api == "anthropic":
        return message
    if api == "gemini":
        return {"role": "model" if message["role"] == "assistant" else "user", "parts": [{"text": text}]}
    return {"role": message["role"], "content": text}


def anthropic_tools(gauntlet: Gauntlet, beta_tool: Any, tool_error: Any) -> List[Any]:
    """Make tools for `client.beta.messages.tool_runner`.

    `beta_tool` is `anthropic.beta_tool`, `tool_error` is `anthropic.lib.tools.ToolError`.
    """

    def made(definition: Json) -> Any:
        def call(**input: Any) -> Any:
            result = gauntlet.run(definition["name"], input)
            if result.is_error:
                raise tool_error(result.content)
            return result.content

        return beta_tool(
            call,
            name=definition["name"],
            description=definition["description"],
            input_schema=definition["input_schema"],
        )

    return [made(definition) for definition in gauntlet.tools("anthropic")]


def _answer_body(answer: Any) -> Json:
    if isinstance(answer, Mapping):
        return dict(answer)
    if isinstance(answer, str):
        return {"behavior": "deny", "message": answer}
    return {"behavior": "allow" if answer is True else "deny"}


def _events(response: http.client.HTTPResponse) -> Iterator[Tuple[str, Json]]:
    """Yield the id and the data of Server-Sent Events; Gauntlet writes each on one line."""
    event = ""
    while True:
        line = response.readline(MAX_REPLY_BYTES)
        if not line.endswith(b"\n"):
            return
        if line.startswith(b"id: "):
            event = line[4:].decode().strip()
        elif line.startswith(b"data: "):
            yield event, _parsed(line[6:])
            event = ""


def _parsed(text: bytes, status: int = 200) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        start = text[:200].decode("utf-8", "replace")
        raise GauntletError("bad_reply", f"The reply is no JSON, so it is not Gauntlet's: {start}", status) from error


def _plain(value: Any) -> Any:
    """Turn objects of the packages into JSON."""
    dump = getattr(value, "model_dump", None) or getattr(value, "to_dict", None)
    if dump is None:
        message = f"Cannot send a {type(value).__name__}: hand in JSON or a reply of a model's package"
        raise GauntletError("invalid_request", message)
    return dump()


def _text_of(content: Union[str, List[Json]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block.get("type") == "text")


def _marked_text(result: Json) -> str:
    """The text of a result. OpenAI's APIs have no mark for errors, so the text says it, as in the server's replies."""
    text = _text_of(result.get("content", ""))
    return f"Error: {text}" if result.get("is_error") and not re.match(r"\w*Error:", text) else text


def _images_in(content: Union[str, List[Json]]) -> List[Json]:
    return [] if isinstance(content, str) else [block for block in content if block.get("type") == "image"]


def _data_url(image: Json) -> str:
    return f"data:{image['source']['media_type']};base64,{image['source']['data']}"


def _has_null(value: Any) -> bool:
    if isinstance(value, (dict, list)):
        return any(_has_null(one) for one in (value.values() if isinstance(value, dict) else value))
    return value is None


def _drop_nulls(value: Any, schema: Any) -> Any:
    """Drop nulls of optional fields whose schema is known and takes none."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [_drop_nulls(item, schema.get("items")) for item in value]
    if not isinstance(value, dict):
        return value
    fields, required = schema.get("properties") or {}, schema.get("required") or []
    return {
        name: _drop_nulls(item, fields.get(name))
        for name, item in value.items()
        if item is not None or name in required or name not in fields or _takes_null(fields[name])
    }


def _takes_null(schema: Any) -> bool:
    """Whether null may be meant: said so, or not known."""
    if not isinstance(schema, dict) or not {"type", "enum", "const", "anyOf", "oneOf"} & set(schema):
        return True
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds) or None in schema.get("enum", []):
        return True
    if "const" in schema and schema["const"] is None:
        return True
    return any(_takes_null(one) for one in [*(schema.get("anyOf") or []), *(schema.get("oneOf") or [])])
