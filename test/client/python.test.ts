/** The Python client, as Debian's python3 runs it, against the built server. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import { startServer, type BuiltServer } from '../helpers/built-server.ts';
import { cuttingProxy, type CuttingProxy } from '../helpers/cutting-proxy.ts';
import { packageServer } from '../helpers/mcp-servers.ts';
import { until, wireClient } from '../helpers/wire-client.ts';

const CLIENT_FOLDER = new URL('../../client/python', import.meta.url).pathname;
const PLUGIN = new URL('../fixtures/inner-tools.mjs', import.meta.url).pathname;
/** One red pixel. */
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** What every program begins with. `reply_of` makes objects as the packages of the models' vendors have them. */
const PRELUDE = `
import _thread, json, os, sys, threading, time
from gauntlet_client import GauntletError, connect
url, token = os.environ["GAUNTLET_URL"], os.environ["GAUNTLET_TOKEN"]
def say(value): print(json.dumps(value), flush=True)
def hear(): return sys.stdin.readline().strip()
class reply_of:
    def __init__(self, fields): self.fields = fields
    def model_dump(self): return self.fields
def use(name, input, id="call_0"): return {"type": "tool_use", "id": id, "name": name, "input": input}
def message(*blocks): return reply_of({"role": "assistant", "content": [reply_of(block) for block in blocks]})
`;

let server: BuiltServer;
let proxy: CuttingProxy;
let folders = 0;

beforeAll(async () => {
  proxy = await cuttingProxy(() => server.url);
  server = await startServer({
    environment: { GAUNTLET_ALLOWED_HOSTS: `127.0.0.1,${new URL(proxy.url).host}` },
    mayKeep: ['server-everything'],
    settings: {
      plugins: [PLUGIN],
      mcpServers: { everything: packageServer('@modelcontextprotocol/server-everything/dist/index.js', 'stdio') },
    },
  });
  const { get } = wireClient(server);
  await until(async () => (await get('/tools')).body.tools.some(({ name }) => name === 'mcp__everything__echo'));
});

/** A folder of the workspace with a text and an image in it. */
function folder(): string {
  const path = join(server.workspace, `python-${(folders += 1)}`);
  mkdirSync(path);
  writeFileSync(join(path, 'notes.md'), 'one\ntwo\n');
  writeFileSync(join(path, 'pixel.png'), Buffer.from(IMAGE, 'base64'));
  return path;
}

/** Start a Python program in a folder. */
function python(program: string, { cwd = folder(), url = server.url } = {}) {
  const environment = {
    PATH: process.env['PATH'],
    PYTHONPATH: CLIENT_FOLDER,
    PYTHONDONTWRITEBYTECODE: '1',
    GAUNTLET_URL: url,
    GAUNTLET_TOKEN: server.token,
  };
  const options = { cwd, env: environment, extendEnv: false, timeout: 30_000, reject: false } as const;
  const child = execa('python3', ['-W', 'error', '-c', `${PRELUDE}\n${program}`], options);
  return {
    cwd,
    child,
    /** Send it a line, which \`hear()\` returns. */
    tell: (line: string) => void child.stdin.write(`${line}\n`),
    /** What it has said with \`say()\`, once it has ended without an error. */
    said: async (): Promise<unknown[]> => {
      const { stdout, stderr, exitCode } = await child;
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as unknown);
    },
  };
}

const inBypass = 'connect(url, token, {"cwd": os.getcwd(), "mode": "bypassPermissions"})';

describe('the Python client', () => {
  it('lists tools as each API takes them', async () => {
    const program = python(`
with ${inBypass} as gauntlet:
    for format in ("anthropic", "openai-chat", "openai-responses", "mcp"):
        say(sorted(next(tool for tool in gauntlet.tools(format) if "Read" in json.dumps(tool)[:60])))
    say("input_schema" in gauntlet.tools(schemas=None, mode=None)[0])`);
    expect(await program.said()).toEqual([
      ['description', 'input_schema', 'name'],
      ['function', 'type'],
      ['description', 'name', 'parameters', 'strict', 'type'],
      ['annotations', 'description', 'inputSchema', 'name'],
      true,
    ]);
  });

  it('executes a message of the Messages API: Glob, Read, Write, Bash, an image, an error, an MCP tool', async () => {
    const program = python(`
with ${inBypass} as gauntlet:
    execution = gauntlet.execute(message(
        {"type": "text", "text": "I look.", "citations": None},
        use("Glob", {"pattern": "*.md"}, "a"), use("Read", {"file_path": "notes.md"}, "b"),
        use("Write", {"file_path": "new.txt", "content": "new"}, "c"), use("Bash", {"command": "cat new.txt"}, "d"),
        use("Read", {"file_path": "pixel.png"}, "e"), use("Read", {"file_path": "none"}, "f"),
        use("mcp__everything__echo", {"message": "hello"}, "functions.echo:7")))
    say([(call["tool_use_id"], call["status"]) for call in execution.calls])
    [user] = execution.messages
    say([user["role"], user["content"] == execution.results])
    for result in execution.results: say(result)`);
    const [calls, user, ...results] = await program.said();
    expect(calls).toEqual([
      ...['a', 'b', 'c', 'd', 'e'].map((id) => [id, 'ok']),
      ['f', 'error'],
      ['functions.echo:7', 'ok'],
    ]);
    expect(user).toEqual(['user', true]);
    const image = { type: 'image', source: expect.objectContaining({ media_type: 'image/png', data: IMAGE }) };
    expect(results).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'notes.md' },
      { type: 'tool_result', tool_use_id: 'b', content: expect.stringContaining('two') },
      { type: 'tool_result', tool_use_id: 'c', content: expect.stringContaining('new.txt') },
      { type: 'tool_result', tool_use_id: 'd', content: 'new' },
      { type: 'tool_result', tool_use_id: 'e', content: expect.arrayContaining([image]) },
      { type: 'tool_result', tool_use_id: 'f', content: expect.stringContaining('none'), is_error: true },
      { type: 'tool_result', tool_use_id: 'functions.echo:7', content: expect.stringContaining('hello') },
    ]);
    expect(readFileSync(join(program.cwd, 'new.txt'), 'utf8')).toBe('new');
  });

  it('answers OpenAI and Gemini in their own words, images and errors too', async () => {
    const program = python(`
def function(path): return {"name": "Read", "arguments": json.dumps({"file_path": path})}
with ${inBypass} as gauntlet:
    calls = [{"id": f"call_{n}", "type": "function", "function": function(path)} for n, path in enumerate(["pixel.png", "none"])]
    say(gauntlet.execute(reply_of({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": calls}}]})).messages)
    items = [{"type": "reasoning", "id": "rs_1"}] + [
        {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}|fc", **function(path)} for n, path in enumerate(["pixel.png", "none"])]
    say(gauntlet.execute(reply_of({"output": items})).messages)
    parts = [{"text": "I look"}, {"functionCall": {"name": "Glob", "args": {"pattern": "*.md"}}}]
    say(gauntlet.execute({"candidates": [{"content": {"role": "model", "parts": parts}}]}).messages)
    say([gauntlet.execute(reply).messages for reply in (
        reply_of({"choices": [{"message": {"role": "assistant", "content": "Done", "tool_calls": None}}]}),
        message({"type": "text", "text": "Done"}), {"output": []}, [])])`);
    const [chat, responses, gemini, nothing] = await program.said();
    const url = `data:image/png;base64,${IMAGE}`;
    expect(chat).toEqual([
      { role: 'tool', tool_call_id: 'call_0', content: expect.any(String) },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringMatching(/^Error: .*none/) },
      { role: 'user', content: [expect.objectContaining({ type: 'text' }), { type: 'image_url', image_url: { url } }] },
    ]);
    expect(responses).toEqual([
      {
        type: 'function_call_output',
        call_id: 'call_0|fc',
        output: expect.arrayContaining([{ type: 'input_image', image_url: url, detail: 'auto' }]),
      },
      { type: 'function_call_output', call_id: 'call_1|fc', output: expect.stringMatching(/^Error: .*none/) },
    ]);
    expect(gemini).toEqual([
      { role: 'user', parts: [{ functionResponse: { name: 'Glob', response: { output: 'notes.md' } } }] },
    ]);
    expect(nothing).toEqual([[], [], [], []]);
  });

  it('runs one call', async () => {
    const program = python(`
with ${inBypass} as gauntlet:
    image, error = gauntlet.run("Read", {"file_path": "pixel.png"}), gauntlet.run("Rad", {"file_path": "none"})
    say([image.status, image.is_error, len(image.images), image.images[0][1:4].decode()])
    say([error.status, error.is_error, error.error_code, error.text])`);
    expect(await program.said()).toEqual([
      ['ok', false, 1, 'PNG'],
      ['error', true, 'unknown_tool', expect.stringContaining('"Rad"')],
    ]);
  });

  it('takes ids that repeat, in one message too, ids that are missing, and a turn that is sent again', async () => {
    const program = python(`
def append(id=None): return {"name": "Bash", "input": {"command": "echo x >> ran.txt; wc -l < ran.txt"}, **({"id": id} if id else {})}
with ${inBypass} as gauntlet:
    for _ in range(2):
        execution = gauntlet.execute([append("call_0"), append("call_0"), append()])
        say([(result["tool_use_id"][:6], result["content"]) for result in execution.results])
    for _ in range(2):
        execution = gauntlet.execute([append("call_0")], turn_id="turn_again")
        say([execution.turn_id, execution.results[0]["content"], execution.results[0]["tool_use_id"]])`);
    const [first, second, third, fourth] = await program.said();
    expect(first).toEqual([
      ['call_0', '1'],
      ['call_0', '2'],
      [expect.stringMatching(/^call_/), '3'],
    ]);
    expect((second as string[][]).map(([, count]) => count)).toEqual(['4', '5', '6']);
    expect([third, fourth]).toEqual(Array(2).fill(['turn_again', '7', 'call_0']));
  });

  it('drops nulls of optional fields, and no others', async () => {
    const program = python(`
nulls = {"pattern": "*.md", "path": None}
with ${inBypass} as gauntlet:
    say(gauntlet.run("Glob", nulls).text)
    say(gauntlet.run("Glob", {"pattern": None}).error_code)`);
    expect(await program.said()).toEqual(['notes.md', 'invalid_input']);
  });

  it('asks one question at a time, of agents too, and does what is answered', async () => {
    const program = python(`
asked = []
def on_ask(question):
    asked.append([question["tool_use_id"] if "session_id" not in question else question["parent_tool_use_id"], question["tool_name"]])
    return {"touch yes": True, "touch no": "not today", "touch child": {"behavior": "allow"}}.get(question["input"]["command"])
with connect(url, token, {"cwd": os.getcwd(), "rules": {"allow": ["Delegate"]}}, on_ask=on_ask) as gauntlet:
    delegate = {"blocks": [{"name": "Bash", "input": {"command": "touch child"}}]}
    uses = [use("Bash", {"command": f"touch {name}"}, name) for name in ("yes", "no", "nothing")]
    execution = gauntlet.execute([*uses, use("Delegate", delegate, "d")])
    say(asked)
    for result in execution.results: say(result)`);
    const [asked, yes, no, nothing, delegated] = await program.said();
    expect(asked).toEqual(['yes', 'no', 'nothing', 'd'].map((id) => [id, 'Bash']));
    expect(yes).not.toHaveProperty('is_error');
    expect(no).toMatchObject({ is_error: true, content: expect.stringContaining('not today') });
    expect(nothing).toMatchObject({ is_error: true });
    expect(delegated).not.toHaveProperty('is_error');
    const made = ['yes', 'no', 'nothing', 'child'].map((name) => existsSync(join(program.cwd, name)));
    expect(made).toEqual([true, false, false, true]);
  });

  it('denies what cannot be asked, and raises why', async () => {
    const program = python(`
def on_ask(question): raise ValueError("no terminal")
with connect(url, token, {"cwd": os.getcwd()}, on_ask=on_ask) as gauntlet:
    try: gauntlet.run("Bash", {"command": "touch made"})
    except ValueError as error: say(str(error))`);
    expect([await program.said(), existsSync(join(program.cwd, 'made'))]).toEqual([['no terminal'], false]);
  });

  it('cancels from another thread, where it is interrupted, and where it is closed', async () => {
    const program = python(`
gauntlet = ${inBypass}
sleeper = {"command": "echo begun; sleep 60"}
def when_begun(act):
    def progress(frame):
        if "begun" in json.dumps(frame["data"]):
            say(frame["tool_use_id"])
            gauntlet.on_progress = None
            threading.Thread(target=act).start()
    gauntlet.on_progress = progress
when_begun(gauntlet.cancel)
say(gauntlet.execute([use("Bash", sleeper, "sleep:1")]).calls[0]["status"])
when_begun(_thread.interrupt_main)
try: gauntlet.run("Bash", sleeper)
except KeyboardInterrupt: say("interrupted")
for attempt in range(200):
    last = gauntlet.request("GET", f"/sessions/{gauntlet.session_id}/events")["frames"][-1]
    if last["type"] == "turn_end": break
    time.sleep(0.02)
say(last["calls"][0]["status"])
when_begun(gauntlet.close)
say(gauntlet.run("Bash", sleeper).status)
try: gauntlet.run("Bash", sleeper)
except GauntletError as error: say(error.code)`);
    const called = expect.stringMatching(/^call_/);
    const [first, status, second, interrupted, ended, third, ...closed] = await program.said();
    expect([first, status]).toEqual(['sleep:1', 'cancelled']);
    expect([second, interrupted, ended]).toEqual([called, 'interrupted', 'cancelled']);
    expect([third, ...closed]).toEqual([called, 'cancelled', 'closed']);
  });

  it('goes on where a connection was cut, again and again, and misses nothing', async () => {
    proxy.cutAfter(undefined);
    const program = python(
      `
pieces = []
def on_progress(frame): pieces.append(frame["n"])
with connect(url, token, {"cwd": os.getcwd(), "mode": "bypassPermissions"}, on_progress=on_progress) as gauntlet:
    say("connected")
    hear()
    result = gauntlet.run("Bash", {"command": "echo ran >> runs; for n in $(seq 30); do echo $n; sleep 0.05; done; wc -l < runs"})
    say([result.status, result.text.split()])
    say(pieces == list(range(1, len(pieces) + 1)) and len(pieces) > 2)`,
      { url: proxy.url },
    );
    // More than the longest frame and the head of a reply take, less than all frames do.
    program.child.stdout.once('data', () => {
      proxy.cutAfter(4_000);
      program.tell('go on');
    });
    const [, result, isComplete] = await program.said();
    expect(result).toEqual(['ok', [...Array.from({ length: 30 }, (_, index) => String(index + 1)), '1']]);
    expect(isComplete).toBe(true);
    expect(proxy.cuts()).toBeGreaterThan(1);
  });

  it('sends a batch again that was cut before its first frame, and asks what was asked meanwhile', async () => {
    proxy.cutAfter(undefined);
    const program = python(
      `
asked = []
def on_ask(question):
    asked.append(question["tool_name"])
    return True
with connect(url, token, {"cwd": os.getcwd()}, on_ask=on_ask) as gauntlet:
    say(gauntlet.session_id)
    hear()
    say([gauntlet.run("Bash", {"command": "echo ran >> runs; wc -l < runs"}).text, asked])`,
      { url: proxy.url },
    );
    program.child.stdout.once('data', (id: Buffer) => {
      proxy.cutAfter(20);
      program.tell('go on');
      const { get } = wireClient(server);
      void until(async () => {
        const { body } = await get(`/sessions/${JSON.parse(String(id)) as string}/prompts`);
        return body.prompts.length > 0;
      }).then(() => proxy.cutAfter(undefined));
    });
    expect(await program.said()).toEqual([expect.any(String), ['1', ['Bash']]]);
  });

  it('raises one class of errors, with what the server said', async () => {
    const program = python(`
def problem(act):
    try: act()
    except GauntletError as error: say([error.code, error.status, error.details, bool(error.request_id), str(error)])
problem(lambda: connect(url, "wrong" * 9))
problem(lambda: connect(url, token, "ses_none"))
problem(lambda: connect(url, token, {"cwdd": "/"}))
problem(lambda: connect("http://127.0.0.1:1", token))
problem(lambda: connect("127.0.0.1", token))
problem(lambda: connect(url, "  "))
problem(lambda: connect(url, token).execute(7))
problem(lambda: connect(url, token).execute([{"type": "tool_use", "name": "", "input": {}}]))`);
    expect(await program.said()).toEqual([
      ['unauthenticated', 401, expect.anything(), true, expect.any(String)],
      ['not_found', 404, {}, true, expect.stringContaining('ses_none')],
      ['invalid_request', 400, expect.objectContaining({ path: 'cwdd' }), true, expect.stringContaining('"cwd"')],
      ['unreachable', 0, {}, false, expect.stringContaining('http://127.0.0.1:1')],
      ['invalid_request', 0, {}, false, expect.stringContaining('"url"')],
      ['invalid_request', 0, {}, false, expect.stringContaining('"token"')],
      ['invalid_request', 0, {}, false, expect.stringContaining('a list of calls')],
      ['invalid_request', 400, expect.objectContaining({ path: 'tool_uses[0].name' }), true, expect.any(String)],
    ]);
  });
});
