/** REPL with its real process, in a real jail, and what code can try in it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../config/limits.ts';
import { createJail } from '../../../src/process/jail/jail.ts';
import type { InnerBlock, InnerResult } from '../../../src/tool/inner-call.ts';
import type { ToolUseContext } from '../../../src/tool/tool.ts';
import { resultText } from '../../../src/wire/result-text.ts';
import { replTool } from '../../../tools/code/repl/index.ts';
import { codeServices } from '../../helpers/code-services.ts';
import { plainTool } from '../../helpers/plain-tool.ts';
import { environmentOf, until } from '../../helpers/process-host.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allowEverything, parentMessage, toolUseContextIn } from '../../helpers/tool-use-context.ts';

const home = temporaryFolder();
const root = join(home, 'workspace');
mkdirSync(root);
writeFileSync(join(root, 'secret'), 'the secret', { mode: 0o666 });
const services = codeServices(home);
const { processHost, jail, codeProcesses } = services;
const tool = replTool(services);

const innerTools = [
  plainTool('Echo', { prompt: () => 'Repeats a text' }),
  plainTool('mcp__far__send'),
  plainTool('REPL'),
  plainTool('mcp__odd-name__x'),
  plainTool('process'),
];

/** Answers of the tools, after a turn of the event loop. */
async function answer({ name, input }: InnerBlock): Promise<InnerResult> {
  await delay(1);
  const { text = '' } = input as { text?: string };
  if (text === 'deny') return { toolUseId: 'i', status: 'denied', errorCode: 'permission_denied', content: 'Denied' };
  return { toolUseId: 'i', status: 'ok', content: `${name} says ${text}`, data: { text, length: text.length } };
}

let sessions = 0;
/** A session of its own: what one test does to its process must not reach another. */
function replSession(changes: Partial<ToolUseContext> = {}) {
  const sessionId = `session-${++sessions}`;
  const run = vi.fn(answer);
  return {
    run,
    sessionId,
    async call(code: string, more: Partial<ToolUseContext> & { readonly timeout?: number } = {}) {
      const { timeout = 10_000, ...context } = more;
      const progress: string[] = [];
      const { data } = await tool.call(
        tool.inputSchema.parse({ code, timeout }),
        toolUseContextIn(root, {
          ...{ innerTools, run, sessionId, sessionFolder: join(home, sessionId) },
          ...changes,
          ...context,
        }),
        allowEverything,
        parentMessage,
        (piece) => progress.push(piece.data.text),
      );
      return { text: resultText(tool.mapToolResultToToolResultBlockParam(data, 'c').content), progress };
    },
  };
}

describe('REPL', () => {
  const { call, run } = replSession();
  const text = async (code: string) => (await call(code)).text;

  it('shows the value of the last expression, and keeps values for the next call', async () => {
    expect(await text('const numbers = [1, 2, 3]; numbers.map((n) => n * 2)')).toBe('[ 2, 4, 6 ]');
    expect(await text('numbers.length')).toBe('3');
    expect(await text('const numbers = await Promise.resolve(7)')).toBe('undefined');
    expect(await text('numbers + 1')).toBe('8');
    expect(await text('class A { x = 1 }; new A().x')).toBe('1');
    expect(await text('class A { x = 2 }\nnew A().x')).toBe('2');
    expect(await text('function f() { return numbers }\nf()')).toBe('7');
    expect(await text('{ a: 1 }')).toBe('{ a: 1 }');
    expect(await text('for (const n of [1, 2]) console.log(n)')).toBe('1\n2\n');
  });

  it('shows what is printed as progress and in the result, and then the value', async () => {
    const { text: shown, progress } = await call('console.log("out"); console.error("err"); 5');
    expect(shown).toBe('out\nerr\n5');
    expect(progress.join('')).toBe('out\nerr\n');
  });

  it('calls tools as functions, one after another or side by side', async () => {
    expect(await text('await Echo({ text: "a" })')).toBe("'Echo says a'");
    expect(await text('Echo({ text: "not awaited" })')).toBe("'Echo says not awaited'");
    expect(await text('(await Echo.output({ text: "abc" })).length')).toBe('3');
    expect(await text('(await Promise.all([1, 2, 3].map((n) => mcp__far__send({ text: n + "" })))).length')).toBe('3');
    expect(run).toHaveBeenCalledWith({ name: 'Echo', input: { text: 'abc' } });
    expect(await text('await help("Echo")')).toContain('Repeats a text');
    expect(await text('await help(Echo)')).toContain('Repeats a text');
  });

  it('throws what a tool refuses into the code', async () => {
    expect(
      await text('const e = await Echo({ text: "deny" }).catch((error) => error); [e.name, e.code, e.message]'),
    ).toBe("[ 'ToolError', 'permission_denied', 'Denied' ]");
    await expect(call('console.log("before"); await Echo({ text: "deny" })')).rejects.toThrow(
      /^before\nToolError: Denied/,
    );
    expect(await text('typeof REPL')).toBe("'undefined'");
    expect(await text('await tools["mcp__odd-name__x"]({ text: "b" })')).toBe("'mcp__odd-name__x says b'");
    expect(await text('typeof process.pid + typeof tools.process')).toBe("'numberfunction'");
  });

  it('reports errors of the code, and keeps its values', async () => {
    await expect(call('let kept = 1; null.x')).rejects.toThrow(/TypeError: Cannot read properties of null/);
    await expect(call('f(')).rejects.toThrow(/SyntaxError/);
    await expect(call('throw { odd: 1 }')).rejects.toThrow('Uncaught { odd: 1 }');
    await expect(call('setTimeout(() => { throw new Error("late") }, 5); await new Promise(() => {})')).rejects.toThrow(
      'late',
    );
    expect(await text('kept')).toBe('1');
  });

  it('takes any name for values, those of its own program too', async () => {
    for (const name of ['send', 'shown', 'current', 'parse', 'toolNames', 'ask']) {
      expect(await text(`const ${name} = 1; let ${name}2 = ${name}; ${name}2`)).toBe('1');
    }
    expect(await text('await Echo({ text: "still" })')).toBe("'Echo says still'");
  });

  it('bounds values and output', async () => {
    expect((await text('"x".repeat(1e6)')).length).toBeLessThan(25_000);
    expect((await text('Array.from({ length: 1e5 }, (_, i) => ({ i }))')).length).toBeLessThan(25_000);
    const shown = await text('for (let i = 0; i < 1e5; i++) console.log(i)');
    expect(shown).toMatch(/^0\n1\n[^]*characters left out[^]*99999\n$/);
    expect(shown.length).toBeLessThan(25_000);
  });
});

describe('a run that does not end', () => {
  it('is ended with its process, and the next call says that values are lost', async () => {
    const { call } = replSession();
    await call('var kept = 1');
    await expect(call('console.log("so far"); while (true);', { timeout: 300 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(/did not end within 300 ms[^]*lost[^]*so far/) as string,
    });
    expect((await call('typeof kept')).text).toBe(
      "'undefined'\n(This call has a new process: values of earlier calls are lost)",
    );
    expect((await call('1')).text).toBe('1');
    await expect(call('await new Promise(() => {})', { timeout: 200 })).rejects.toMatchObject({ code: 'timeout' });
  });

  it('does not count the time of its tool calls', async () => {
    const slow = async () => {
      await delay(800);
      return { toolUseId: 'i', status: 'ok', content: 'slow' } as const;
    };
    const { call } = replSession({ run: slow });
    expect((await call('await Echo({})', { timeout: 400 })).text).toBe("'slow'");
  });

  it('stops when it is cancelled, and keeps its values if it can', async () => {
    const { call } = replSession();
    await call('var kept = 1');
    const cancelled = async (code: string) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error('stop')), 200);
      return call(code, { signal: controller.signal });
    };
    await expect(cancelled('await new Promise(() => {})')).rejects.toThrow();
    expect((await call('kept')).text).toBe('1');
    await expect(cancelled('while (true);')).rejects.toMatchObject({ code: 'cancelled' });
    expect((await call('typeof kept')).text).toContain('undefined');
  });

  it('leaves nothing that goes on between the calls', async () => {
    const { call } = replSession();
    await call('var count = 0; setInterval(() => { count++ }, 1); 0');
    await delay(500);
    expect(Number((await call('count')).text)).toBeLessThan(50);
    await call('setTimeout(() => { while (true); }, 1)');
    await delay(100);
    await expect(call('await new Promise((r) => setTimeout(r, 50))', { timeout: 300 })).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  it('is told of when the code ends its process', async () => {
    const { call } = replSession();
    await expect(call('process.exit(3)')).rejects.toThrow('The process of the REPL has ended: it ended (3)');
    await expect(call('process.kill(process.pid, "SIGKILL")')).rejects.toThrow('has ended');
    expect((await call('1')).text).toContain('1');
  });
});

describe('code that attacks', () => {
  const { call } = replSession();
  const text = async (code: string) => (await call(code)).text;
  /** The value of an expression, or that it was refused. */
  const attempt = (code: string) =>
    text(
      `var shown; try { shown = ${code} } catch (e) { shown = 'refused ' + (e.code ?? e.cause?.code ?? e.message) } shown`,
    );

  it.each([
    ['reads a file', 'require("fs").readFileSync(SECRET, "utf8")'],
    ['reads a file by import', '(await import("node:fs")).readFileSync(SECRET, "utf8")'],
    ['reads a file by promises', 'await (await import("fs/promises")).readFile(SECRET, "utf8")'],
    ['reads a file by a path in bytes', 'require("fs").readFileSync(Buffer.from(SECRET), "utf8")'],
    ['reads a file by its address', 'require("fs").readFileSync(new URL("file://" + SECRET), "utf8")'],
    ['reads a file by a way around', 'require("fs").readFileSync("/usr/.." + SECRET, "utf8")'],
    ['reads a file as a blob', 'await (await require("fs").openAsBlob(SECRET)).text()'],
    ['reads a file as a stream', 'await require("stream/consumers").text(require("fs").createReadStream(SECRET))'],
    ['reads a file behind the loader', 'module.constructor._extensions[".json"]({}, SECRET)'],
    ['lists a folder', 'require("fs").readdirSync("/").length'],
    ['reads the environment of others', 'require("fs").readFileSync("/proc/1/environ", "latin1")'],
    ['reads its own memory', 'require("fs").openSync("/proc/self/mem", "r")'],
    ['follows a descriptor', 'require("fs").readFileSync("/proc/self/fd/0")'],
    ['writes a file', 'require("fs").writeFileSync(SECRET, "x")'],
    ['loads a module from the disk', 'require(SECRET)'],
    ['imports a module from the disk', 'await import(SECRET)'],
    ['makes a link', 'require("fs").symlinkSync(SECRET, "link")'],
    ['starts a program', 'require("child_process").execSync("id").toString()'],
    ['forks', 'require("child_process").fork("/x")'],
    ['starts a thread', 'new (require("worker_threads").Worker)("1", { eval: true })'],
    ['opens the inspector', 'require("inspector").open(0)'],
    ['opens a session of the inspector', 'new (require("inspector").Session)().connect()'],
    ['uses bindings', 'process.binding("fs")'],
    ['uses more bindings', 'process._linkedBinding("fs")'],
    ['loads an addon', 'process.dlopen({ exports: {} }, "/x.node")'],
    ['uses WASI', 'new (require("wasi").WASI)({ version: "preview1", preopens: { "/": "/" } })'],
    ['writes a heap snapshot', 'require("v8").writeHeapSnapshot("/tmp/gauntlet-heap")'],
    ['writes a report', 'process.report.writeReport("/tmp/gauntlet-report")'],
    ['leaves its folder', 'process.chdir("/")'],
    ['gets permission', 'process.permission.has("fs.read") || fail'],
  ])('is refused when it %s', async (_, code) => {
    await call(`var SECRET = ${JSON.stringify(join(root, 'secret'))}`);
    const shown = await attempt(code);
    expect(shown).toContain('refused');
    expect(shown).not.toContain('the secret');
  });

  it('reaches no network', async () => {
    let requests = 0;
    const server = createServer(() => (requests += 1)).listen(0, '127.0.0.1');
    await until(() => server.listening);
    const { port } = server.address() as AddressInfo;
    expect(await attempt(`await fetch("http://127.0.0.1:${port}/")`)).toContain('refused');
    const connect = `await new Promise((y, n) => require("net").connect(${port}, "127.0.0.1").on("connect", y).on("error", n))`;
    expect(await attempt(connect)).toContain('refused EPERM');
    expect(
      await attempt('await new Promise((y, n) => require("dgram").createSocket("udp4").on("error", n).bind(0, y))'),
    ).toContain('refused');
    expect(await attempt('await require("dns").promises.lookup("example.com")')).toContain('refused');
    expect(
      await attempt('await new Promise((y, n) => require("http").createServer().on("error", n).listen(0, y))'),
    ).toContain('refused');
    server.close();
    expect(requests).toBe(0);
  });

  it('signals nobody, and leaves nothing on the disk', async () => {
    expect(await attempt(`process.kill(${process.pid}, 0)`)).toContain('refused');
    expect(await attempt('process.kill(1, "SIGTERM")')).toContain('refused');
    const before = readdirSync(root);
    // The permission model of Node 20 forgets traces; the folder that the jail leaves writable goes with the process.
    await call(
      'require("trace_events").createTracing({ categories: ["node"] }).enable(); process.kill(process.pid, "SIGUSR1")',
    );
    await call('await new Promise((resolve) => setTimeout(resolve, 100))');
    expect(readdirSync(root)).toEqual(before);
    expect(existsSync('/tmp/gauntlet-heap') || existsSync('/tmp/gauntlet-report')).toBe(false);
  });

  it('holds back where only the jail is left', async () => {
    // As if the permission model had a hole: the same process without its flag.
    const place = {
      ...{ principal: 'owner', sessionId: 'bare', folders: [], sessionFolder: join(home, 'bare') },
      denials: { version: 0, isDenied: () => false, mayDenyBelow: () => false, places: () => [] },
    };
    mkdirSync(place.sessionFolder);
    const secret = JSON.stringify(join(root, 'secret'));
    const code = `const fs = require('fs'); const t = (f) => { try { return f() } catch (e) { return e.code } };
      console.log(t(() => fs.readFileSync(${secret}, 'utf8')), t(() => fs.writeFileSync(${secret}, 'x')),
        t(() => fs.readFileSync('/proc/${process.pid}/environ', 'utf8')));`;
    const output = await jail.within(place, false, async ({ program, request: { env }, temporaryFolder }) => {
      let written = '';
      const onOutput = (_stream: unknown, chunk: Buffer) => void (written += String(chunk));
      const request = { ...program(process.execPath, ['-e', code]), env, cwd: temporaryFolder };
      await processHost.spawn({ ...request, onOutput }).exited;
      return written;
    });
    expect(output.trim()).toMatch(/^E(ACCES|PERM) E(ACCES|PERM) E(ACCES|PERM)$/);
    expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('the secret');
  });

  it('is told no secret by its environment', async () => {
    const names = await text('Object.keys(process.env).sort().join()');
    expect(names).toMatch(
      /^'(?:[A-Z_]*(?:PATH|HOME|LANG|TERM|TMPDIR|GAUNTLET_CALL_ID|PWD|SHLVL|GIT_CONFIG_PARAMETERS),?)+'$/,
    );
  });
});

describe('the protocol of the REPL', () => {
  it('takes nothing that is printed for a message', async () => {
    const { call, run } = replSession();
    const forged = '{"type":"done","run":1,"isOk":true,"text":"forged"}';
    const shown = await call(
      `require("fs").writeSync(1, ${JSON.stringify(`\n${'0'.repeat(32)} ${forged}\n${forged}\n`)}); 7`,
    );
    expect(shown.text).toMatch(/forged[^]*7$/);
    expect(run).not.toHaveBeenCalled();
  });

  it('answers a call whose input is deep or wide', async () => {
    const { call } = replSession();
    const deep = 'let deep = 1; for (let i = 0; i < 3000; i++) deep = [deep];';
    await expect(call(`${deep} await Echo({ deep, text: "a" })`)).rejects.toThrow('nested deeper than 64 levels');
    const wide = 'const wide = Object.fromEntries(Array.from({ length: 190000 }, (_, i) => ["k" + i, { a: 1 }]));';
    expect((await call(`${wide} await Echo({ wide, text: "b" })`)).text).toBe("'Echo says b'");
  });

  it('refuses inputs that a client may not send either', async () => {
    const { call, run } = replSession();
    await expect(call('await Echo({ text: "a\\ud800" })')).rejects.toThrow('half of a surrogate pair');
    await expect(call('await Echo(JSON.parse(\'{ "__proto__": {} }\'))')).rejects.toThrow('"__proto__"');
    expect(run).not.toHaveBeenCalled();
  });

  it('runs no tool for code whose run has ended', async () => {
    const { call, run } = replSession();
    await call(
      'setTimeout(async () => { try { await Echo({ text: "late" }) } catch (e) { globalThis.late = e.message } }, 20)',
    );
    await call('await new Promise((resolve) => setTimeout(resolve, 100))');
    expect((await call('late')).text).toContain('The run that makes this call has ended');
    expect(run).not.toHaveBeenCalled();
  });

  it('refuses forged calls with the stolen token, outside of runs and for tools that are not there', async () => {
    const { call, run } = replSession();
    // Code can take the token from the program that shares its heap: it gains nothing by it.
    await call(`
      const original = Buffer.from;
      Buffer.from = function (text, ...rest) {
        if (typeof text === 'string' && /^\\n[0-9a-f]{32} /.test(text)) globalThis.stolen = text.slice(1, 33);
        return original.call(this, text, ...rest);
      };
      console.log('x');
      Buffer.from = original;`);
    expect((await call('stolen.length')).text).toBe('32');
    const send = (message: string) =>
      `require('fs').writeSync(1, '\\n' + stolen + ' ' + JSON.stringify(${message}) + '\\n')`;
    await call(
      `setTimeout(() => { for (const run of [1, 2]) ${send('{ type: "call", run, id: 9, name: "Echo", input: {} }')} }, 30); 1`,
    );
    await delay(200);
    await call(
      `${send('{ type: "call", run: 99, id: 9, name: "Echo", input: {} }')}; ${send('{ type: "call", run: 5, id: 1, name: "REPL", input: {} }')}; ${send('{ type: "nonsense" }')}; ${send('[1]')}; 1`,
    );
    expect(run).not.toHaveBeenCalled();
    expect((await call('1 + 1')).text).toBe('2');
  });

  it('survives floods of calls, of output and of answers that nobody reads', async () => {
    const { call, run } = replSession();
    const flood =
      'const all = await Promise.allSettled(Array.from({ length: 5000 }, (_, i) => Echo({ text: "" + i }))); all.filter((r) => r.status === "rejected").length';
    expect((await call(flood)).text).toBe('4000');
    expect(run.mock.calls.length).toBe(1_000);
    await expect(call('while (true) console.log("x".repeat(10000))', { timeout: 20_000 })).rejects.toThrow(
      /printed more than/,
    );
    await expect(
      call('while (true) require("fs").writeSync(1, "x".repeat(100000))', { timeout: 20_000 }),
    ).rejects.toThrow(/a line of more than/);
    await expect(
      call('const a = []; while (true) a.push(new Array(1e6).fill(a.length))', { timeout: 20_000 }),
    ).rejects.toThrow('has ended');
    expect((await call('2')).text).toContain('2');
  }, 60_000);

  it('outlives code that breaks what everything is made of', async () => {
    const { call } = replSession();
    await call(
      `
      Object.prototype.toJSON = function () { return 'x' };
      Array.prototype.push = null; String.prototype.split = () => { throw 1 }; Promise.prototype.then = null;
      JSON.stringify = () => 'broken'; globalThis.console = null; process.stdout = null; Map.prototype.get = null; 1
    `,
      { timeout: 500 },
    ).catch(() => undefined);
    await call('1', { timeout: 500 }).catch(() => undefined);
    const { text: shown } = await call('1 + 1');
    expect(shown).toContain('2');
  });
});

describe('REPL before it runs', () => {
  const input = tool.inputSchema.parse({ code: '1' });
  const context = toolUseContextIn(root, { sessionFolder: join(home, 'gate') });

  it('passes unasked where its code is held, and is asked about where not', async () => {
    expect(await tool.checkPermissions(input, context)).toEqual({ behavior: 'allow' });
    const { jail: _jail, ...others } = services;
    expect(await replTool(others).checkPermissions(input, context)).toMatchObject({
      behavior: 'ask',
      message: expect.stringContaining('there is no jail') as string,
    });
    const off = createJail({
      ...{ host: processHost, ownPaths: [], readOnlyPaths: [], folder: join(home, 'off'), limits: DEFAULT_LIMITS },
      settings: { scope: 'off', isRequired: false, wordsAlone: true },
    });
    expect(await replTool({ ...services, jail: off }).checkPermissions(input, context)).toMatchObject({
      behavior: 'ask',
    });
  });

  it('is held by bubblewrap where the sandbox hides something', async () => {
    const hiding = createJail({
      ...{ host: processHost, ownPaths: [], readOnlyPaths: [], folder: join(home, 'hiding'), limits: DEFAULT_LIMITS },
      ...{ settings: { scope: 'reads', isRequired: false, wordsAlone: false }, hidden: () => [] },
    });
    const masked = replTool({ ...services, jail: hiding });
    const own = toolUseContextIn(root, {
      innerTools,
      run: answer,
      sessionId: 'masked',
      sessionFolder: join(home, 'masked'),
    });
    expect(await masked.checkPermissions(input, own)).toEqual({ behavior: 'allow' });
    const run = async (code: string) => {
      const parsed = masked.inputSchema.parse({ code });
      return (await masked.call(parsed, own, allowEverything, parentMessage, undefined)).data.value;
    };
    expect(await run('var kept = await Echo({ text: "a" }); kept')).toBe("'Echo says a'");
    expect(await run('kept.length')).toBe('11');
    expect(
      await run(
        'require("net").connect(1).on("error", (e) => { kept = e.code }); await new Promise((r) => setTimeout(r, 50)); kept',
      ),
    ).toBe("'EPERM'");
    await codeProcesses.endSession('masked');
  });

  it('does not run outside the jail what passed because of it', async () => {
    let isThere = true;
    const fickle = {
      ...jail,
      prepare: (place: Parameters<typeof jail.prepare>[0]) =>
        isThere ? jail.prepare(place) : Promise.resolve({ kind: 'none', reason: 'it broke' } as const),
    };
    const unsteady = replTool({ ...services, jail: fickle });
    const passed = { ...context, toolUseId: 'passed', sessionId: 'fickle' };
    expect(await unsteady.checkPermissions(input, passed)).toEqual({ behavior: 'allow' });
    isThere = false;
    await expect(unsteady.call(input, passed, allowEverything, parentMessage, undefined)).rejects.toMatchObject({
      code: 'contained',
    });
    const allowed = { ...context, toolUseId: 'allowed', sessionId: 'fickle' };
    expect(await unsteady.checkPermissions(input, allowed)).toMatchObject({ behavior: 'ask' });
    expect((await unsteady.call(input, allowed, allowEverything, parentMessage, undefined)).data.value).toBe('1');
  });

  it('ends with its session, and has an environment of its own', async () => {
    const { call, sessionId } = replSession();
    const { text } = await call('process.pid');
    expect(environmentOf(Number(text))).not.toContain('TOKEN');
    await codeProcesses.endSession(sessionId);
    await until(() => !existsSync(`/proc/${text}`));
  });

  it('names the functions of hidden tools in its words, within what a provider takes', () => {
    const plain = tool.prompt({});
    expect(plain.length).toBeLessThan(1_024);
    const hidden = [plainTool('Bash'), plainTool('Read')];
    expect(tool.prompt({ innerTools: hidden })).toMatch(/\nBash\(\{text\?\}\)\nRead\(\{text\?\}\)\n/);
  });

  it('is drawn while its input streams in', () => {
    expect(tool.renderToolUseMessage({})).toMatchObject({ title: 'REPL', blocks: [{ kind: 'code', text: '…' }] });
    expect(tool.renderToolUseMessage({ code: 'a\nb', description: 'Adds' })).toMatchObject({ subtitle: 'Adds' });
    expect(tool.renderToolUseRejectedMessage({ code: 'a' }, 'no').blocks).toHaveLength(2);
  });
});
