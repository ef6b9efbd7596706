/** The sandbox over a whole server: settings, questions, a session's calls, and the server's end. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltServer, runServer, serverHome, startServer } from '../../helpers/built-server.ts';
import { until } from '../../helpers/process-host.ts';
import { countRunning } from '../../helpers/sandboxes.ts';
import { block, wireClient } from '../../helpers/wire-client.ts';

const bash = (command: string, more: object = {}) => block('Bash', { command, ...more });
/** A folder of programs that holds bash, or nothing. */
function programFolder(hasBash: boolean): { readonly PATH: string } {
  const PATH = serverHome();
  if (hasBash) symlinkSync('/bin/bash', join(PATH, 'bash'));
  return { PATH };
}

describe('a server whose sandbox may run commands unasked', () => {
  let server: BuiltServer;
  let client: ReturnType<typeof wireClient>;
  let sessionId: string;
  const run = async (...blocks: object[]) => client.execute(sessionId, blocks, { on_ask: 'deny' });

  beforeAll(async () => {
    const permissions = { deny: ['Bash(rm:*)'], ask: ['Bash(curl:*)'] };
    server = await startServer({ settings: { permissions, sandbox: { mode: 'auto', autoAllow: true } } });
    client = wireClient(server);
    sessionId = await client.session();
  });

  const explain = async (input: object) => {
    const { body } = await client.post(`/sessions/${sessionId}/permissions/explain`, { name: 'Bash', input });
    const { behavior, reason } = body as unknown as { behavior: string; reason: { type: string } };
    return [behavior, reason.type];
  };

  it('asks for what a rule, a safety check or a mode holds back, and for nothing else', async () => {
    expect(await explain({ command: 'python3 -c 1; touch a' })).toEqual(['allow', 'mode']);
    expect(await explain({ command: 'rm a' })).toEqual(['deny', 'rule']);
    expect(await explain({ command: 'curl a.example' })).toEqual(['ask', 'rule']);
    expect(await explain({ command: 'echo x >.envrc' })).toEqual(['ask', 'safety_check']);
    expect(await explain({ command: 'touch a', dangerouslyDisableSandbox: true })).toEqual(['ask', 'safety_check']);
    const updates = (mode: string) => ({ updates: [{ type: 'setMode', mode }] });
    await client.post(`/sessions/${sessionId}/permissions`, updates('plan'));
    expect(await explain({ command: 'touch a' })).toEqual(['deny', 'mode']);
    await client.post(`/sessions/${sessionId}/permissions`, updates('default'));
  });

  function peekingScript(): string {
    const script = join(server.workspace, 'peek.sh');
    const lines = [
      `cat ${server.dataFolder}/gauntlet.config.json || echo hidden`,
      'cat /proc/*/environ',
      `echo x >${server.home}/outside`,
      'echo end',
    ];
    writeFileSync(script, lines.join('\n'));
    return script;
  }

  /** What a script says cannot be seen, so beside rules about commands it takes one of its own. */
  const allowedScript = async () => {
    const script = peekingScript();
    const updates = [{ type: 'addRules', behavior: 'allow', rules: [`Bash(bash ${script})`] }];
    await client.post(`/sessions/${sessionId}/permissions`, { updates });
    return script;
  };

  it('keeps what commands write and where they end, and its own secrets', async () => {
    // In a script, since the gate would refuse the same words in the command.
    const script = await allowedScript();
    const [made, where, secrets] = (
      await run(bash('mkdir -p sub && echo one >sub/file && cd sub'), bash('pwd; cat file'), bash(`bash ${script}`))
    ).results;
    expect(made?.is_error).toBeUndefined();
    expect(where?.content).toBe(`${server.workspace}/sub\none`);
    expect(secrets?.content).toContain('end');
    expect(secrets?.content).not.toContain(server.token);
    expect(existsSync(join(server.home, 'outside'))).toBe(false);
  });

  it('runs tasks in the background in the sandbox too', async () => {
    const { results } = await run(bash(`bash ${await allowedScript()}`, { run_in_background: true }));
    expect(results[0]?.content).toContain('background');
    const id = /task (\S+)\./.exec(results[0]?.content ?? '')?.[1];
    const output = await run(block('TaskOutput', { task_id: id, block: true }));
    expect(output.results[0]?.content).toMatch(/hidden\n[^]*end/);
  });

  it('says in the tool list how commands run', async () => {
    const { body } = await client.get('/tools/Bash');
    expect(JSON.stringify(body)).toContain('Commands run in a sandbox');
  });

  it('leaves nothing behind when it is killed', async () => {
    const marker = `81.${process.pid}`;
    const post = run(bash(`env -i setsid sleep ${marker} & exec -a gauntlet-sandbox-test sleep ${marker}`)).catch(
      () => undefined,
    );
    await until(() => countRunning(marker) > 0);
    await server.end('SIGKILL');
    await post;
    await until(() => countRunning(marker) === 0);
  });
});

describe('a server that requires the sandbox', () => {
  it('refuses to leave it, whatever the mode', async () => {
    const server = await startServer({
      settings: { sandbox: { mode: 'required' }, permissions: { defaultMode: 'bypassPermissions' } },
    });
    const client = wireClient(server);
    const { results, calls } = await client.execute(undefined, [bash('touch a', { dangerouslyDisableSandbox: true })]);
    expect(calls[0]).toMatchObject({ status: 'denied', error_code: 'permission_denied' });
    expect(results[0]?.content).toContain('Cannot leave the sandbox');
  });

  it('does not start where there is none', async () => {
    const { code, stderr } = await runServer({
      settings: { sandbox: { mode: 'required' } },
      environment: programFolder(false),
    });
    expect(code).toBe(78);
    expect(stderr).toMatch(
      /^gauntlet: "sandbox.mode" is "required", and there is no sandbox: bubblewrap is not installed\. .*\n$/,
    );
  });

  it('does not start where user namespaces are forbidden', async () => {
    const home = serverHome();
    mkdirSync(join(home, 'bin'));
    writeFileSync(
      join(home, 'bin/bwrap'),
      '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n',
      { mode: 0o755 },
    );
    const environment = { PATH: `${home}/bin:${process.env['PATH'] ?? ''}` };
    const { code, stderr } = await runServer({ home, settings: { sandbox: { mode: 'required' } }, environment });
    expect([code, stderr]).toEqual([78, expect.stringContaining('No permissions to create new namespace')]);
  });
});

describe('a server whose sandbox may reach some hosts', () => {
  it('tells the model which, tells the operator of others, and takes its proxy along', async () => {
    const sandbox = { mode: 'required', autoAllow: true, network: { allow: ['*.allowed.example', 'b.example'] } };
    const policy = { sandbox: { mode: 'auto', network: { allow: ['x.allowed.example'] } } };
    const home = serverHome();
    writeFileSync(join(home, 'policy.json'), JSON.stringify(policy));
    const environment = { GAUNTLET_POLICY: join(home, 'policy.json') };
    const server = await startServer({ home, settings: { sandbox }, environment });
    const client = wireClient(server);
    const { body } = await client.get('/tools/Bash');
    expect(JSON.stringify(body)).toContain('reaches these hosts alone, over HTTP and HTTPS: x.allowed.example.');

    const command = 'for i in 1 2; do curl -s http://b.example/private-path; done';
    const { results } = await client.execute(undefined, [bash(command)]);
    expect(results[0]?.content).toContain('Cannot reach "b.example:80" from the sandbox');
    expect((await client.get('/metrics')).text).toContain('gauntlet_sandbox_network_denials 2');
    expect(server.logged().match(/"host":"b.example","port":80,.*not on its list/g)).toHaveLength(1);
    expect(server.logged()).not.toContain('private-path');
    const [name = ''] = readdirSync(join(server.dataFolder, 'sandbox/network'));
    await server.end('SIGKILL');
    const socket = connect(join(server.dataFolder, 'sandbox/network', name));
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });
});

describe('a server in mode "auto" without bubblewrap', () => {
  it('says so once, and asks as without a sandbox', async () => {
    const settings = { sandbox: { mode: 'auto', autoAllow: true } };
    const server = await startServer({ settings, environment: programFolder(true) });
    const client = wireClient(server);
    for (let count = 0; count < 2; count += 1) {
      const { calls } = await client.execute(undefined, [bash('touch a', { dangerouslyDisableSandbox: true })]);
      expect(calls[0]).toMatchObject({ status: 'denied' });
    }
    await server.end();
    expect(server.logged().match(/Commands run without a sandbox/g)).toHaveLength(1);
  });
});
