/**
 * Program of the REPL's process: evaluates code that the server sends, and asks the server for every tool call.
 *
 * It is passed to Node as text, so that the process needs no file. The code that it evaluates shares its heap and can
 * change anything here: nothing of this file guards anything. What holds the code is Node's permission model and the
 * jail; what a message may do is judged by the server.
 */
'use strict';

const { AsyncLocalStorage } = require('node:async_hooks');
const { Console } = require('node:console');
const { writeSync } = require('node:fs');
const { createInterface } = require('node:readline');
const repl = require('node:repl');
const { PassThrough, Writable } = require('node:stream');
const { inspect, types } = require('node:util');

/** Tool calls that wait for an answer; a loop without `await` makes no more. */
const MAX_OPEN_CALLS = 1_000;
/** Characters of one message with an input, and of one piece of output. */
const MAX_INPUT_CHARS = 4 * 1024 * 1024;
const OUTPUT_PIECE_CHARS = 64 * 1024;
/** Characters of a shown value. */
const MAX_VALUE_CHARS = 20_000;
const INSPECT_OPTIONS = { depth: 4, maxArrayLength: 100, maxStringLength: 10_000, breakLength: 100 };

// Kept as they are now: code may replace them.
const { parse, stringify } = JSON;
const runs = new AsyncLocalStorage();
const { stdin } = process;

/** Set by the first line: begins each message, so that what code prints is never taken for one. */
let token = '';
/** The run whose code is evaluated; undefined between runs. */
let current;
let lastCall = 0;
const openCalls = new Map();
const toolNames = new Set();
/** All tools by name, also those whose names are no identifiers, or taken by Node. */
const tools = Object.create(null);
const takenNames = new Set(Object.getOwnPropertyNames(globalThis));

function send(message) {
  let bytes = Buffer.from(`\n${token} ${stringify(message)}\n`);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function outputStream(stream) {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      const text = String(chunk);
      for (let at = 0; at < text.length; at += OUTPUT_PIECE_CHARS) {
        send({ type: 'output', stream, text: text.slice(at, at + OUTPUT_PIECE_CHARS) });
      }
      done();
    },
  });
}

/** Ask the server. @throws Its refusal, as an error with a `code`. */
function ask(message) {
  const run = runs.getStore();
  if (run === undefined || run !== current) {
    return Promise.reject(new Error('The run that makes this call has ended: call tools while a run waits for them'));
  }
  if (openCalls.size >= MAX_OPEN_CALLS) {
    return Promise.reject(new RangeError(`${MAX_OPEN_CALLS} tool calls wait already: await some of them first`));
  }
  const text = stringify(message.input ?? null);
  if (text === undefined || text.length > MAX_INPUT_CHARS) {
    return Promise.reject(new RangeError(`The input is no JSON, or longer than ${MAX_INPUT_CHARS} characters`));
  }
  const id = ++lastCall;
  send({ ...message, run, id });
  return new Promise((resolve, reject) => openCalls.set(id, { resolve, reject }));
}

function defineTool(name) {
  const tool = async (input = {}) => (await ask({ type: 'call', name, input })).content;
  tool.output = async (input = {}) => (await ask({ type: 'call', name, input })).data;
  Object.defineProperty(tool, 'name', { value: name });
  tools[name] = tool;
  if (takenNames.has(name)) return;
  Object.defineProperty(globalThis, name, { value: tool, writable: true, configurable: true, enumerable: false });
}

/** Define the functions of tools that have come since the last run, and remove those that have gone. */
function defineTools(names) {
  for (const name of toolNames) {
    if (names.includes(name)) continue;
    toolNames.delete(name);
    delete tools[name];
    if (!takenNames.has(name)) delete globalThis[name];
  }
  for (const name of names) {
    if (toolNames.has(name)) continue;
    toolNames.add(name);
    defineTool(name);
  }
}

function shown(value) {
  const text = inspect(value, INSPECT_OPTIONS);
  return text.length <= MAX_VALUE_CHARS ? text : `${text.slice(0, MAX_VALUE_CHARS)}… (${text.length} characters)`;
}

/** An error without the lines of this program and of Node. */
function shownError(error) {
  if (!types.isNativeError(error)) return `Uncaught ${shown(error)}`;
  const { err: cause = error } = error;
  const stack = typeof cause.stack === 'string' ? cause.stack : String(cause);
  const lines = stack.split('\n').filter((line) => !/^\s+at .*(?:node:|\[eval|<anonymous>\)$)/.test(line));
  return lines.join('\n').slice(0, MAX_VALUE_CHARS);
}

function finish(run, isOk, value) {
  if (current !== run) return;
  let text;
  try {
    text = isOk ? (value === undefined ? undefined : shown(value)) : shownError(value);
  } catch (error) {
    text = `A value that cannot be shown: ${String(error)}`;
  }
  current = undefined;
  openCalls.clear();
  send({ type: 'done', run, isOk, text });
}

function startEvaluator() {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const server = repl.start({
    ...{ prompt: '', input: new PassThrough(), output, terminal: false },
    ...{ useGlobal: true, ignoreUndefined: true },
  });
  // Up to Node 25 errors of the code come by a domain, as does what its timers throw.
  const { _domain: domain } = server;
  domain?.removeAllListeners('error');
  domain?.on('error', failed);
  return server;
}

/** Handle an error that reached nobody: it fails the run that it belongs to. */
function failed(error) {
  const run = runs.getStore() ?? current;
  if (run !== undefined && run === current) finish(run, false, error);
  else send({ type: 'output', stream: 'stderr', text: `${shownError(error)}\n` });
}

function evaluate({ run, code, tools: names }) {
  defineTools(names);
  current = run;
  runs.run(run, () => {
    const settle = async (error, value) => {
      if (error) return finish(run, false, error);
      try {
        // A call without `await` in front of it is meant to be awaited.
        finish(run, true, types.isPromise(value) ? await value : value);
      } catch (reason) {
        finish(run, false, reason);
      }
    };
    try {
      evaluator.eval(code, evaluator.context, `REPL${run}`, (error, value) => void settle(error, value));
    } catch (error) {
      finish(run, false, error);
    }
  });
}

function answer({ id, error, code, content, data }) {
  const call = openCalls.get(id);
  openCalls.delete(id);
  if (error === undefined) call?.resolve({ content, data });
  else call?.reject(Object.assign(new Error(error), { name: 'ToolError', code }));
}

function receive(line) {
  const message = parse(line);
  if (message.type === 'start') {
    token = message.token;
    send({ type: 'ready' });
  } else if (message.type === 'run') evaluate(message);
  else if (message.type === 'answer') answer(message);
  else if (message.type === 'cancel') finish(message.run, false, new Error('Cancelled'));
}

for (const name of ['stdout', 'stderr']) {
  const stream = outputStream(name);
  Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true });
}
globalThis.console = new Console({ stdout: process.stdout, stderr: process.stderr });
globalThis.tools = tools;
globalThis.help = (name) =>
  ask({ type: 'help', name: String(typeof name === 'function' ? name.name : name) }).then(({ content }) => content);
for (const name of ['tools', 'help']) takenNames.add(name);
process.on('uncaughtException', failed);
process.on('unhandledRejection', (reason) =>
  send({ type: 'output', stream: 'stderr', text: `Unhandled rejection: ${shownError(reason)}\n` }),
);
const evaluator = startEvaluator();
createInterface({ input: stdin }).on('line', receive);
