/** The command line: which words mean what, and what a wrong one is told. */
import { describe, expect, it } from 'vitest';
import { COMMANDS, parseCommandLine } from '../../bin/command-line.ts';

describe('a command line', () => {
  it('serves when it names no command', () => {
    expect(parseCommandLine([])).toMatchObject({ kind: 'command', command: 'serve', environment: {} });
    expect(parseCommandLine(['--port', '0'])).toMatchObject({ command: 'serve', environment: { GAUNTLET_PORT: '0' } });
  });

  it('says options as the variables they stand for', () => {
    const words = ['serve', '--host', '::1', '--workspace=/w', '--data-dir', '/d', '--log-level', 'warn', '--simple'];
    expect(parseCommandLine(words)).toMatchObject({
      environment: {
        GAUNTLET_HOST: '::1',
        GAUNTLET_WORKSPACE: '/w',
        GAUNTLET_DATA_DIR: '/d',
        GAUNTLET_LOG_LEVEL: 'warn',
        GAUNTLET_SIMPLE: '1',
      },
    });
  });

  it('takes rules again and again', () => {
    const line = parseCommandLine(['--allow', 'Read', '--deny=Bash(rm:*)', '--allow', 'Bash(git push)']);
    expect(line).toMatchObject({ lists: { allow: ['Read', 'Bash(git push)'], deny: ['Bash(rm:*)'] }, environment: {} });
  });

  it('takes a tool and its input', () => {
    expect(parseCommandLine(['exec', 'Read', '{}', '--session', 's', '--json'])).toMatchObject({
      command: 'exec',
      operands: ['Read', '{}'],
      options: { session: 's', json: true },
    });
  });

  it.each([...COMMANDS])('has help for %s that names every option it takes', (command) => {
    const line = parseCommandLine([command, '--help']);
    expect(line).toMatchObject({ kind: 'help' });
    expect(line.kind === 'help' && line.text).toMatch(/Usage: gauntlet \w+[^]*--config FILE[^]*--help/);
  });

  it('knows version and general help', () => {
    expect(parseCommandLine(['--version'])).toEqual({ kind: 'version' });
    expect(parseCommandLine(['-h'])).toMatchObject({ kind: 'help' });
  });

  it.each([
    [['sevre'], 'There is no command "sevre"'],
    [['--prot', '1'], 'see gauntlet serve --help'],
    [['serve', '--port'], '--port'],
    [['tools', '--session', 's'], 'see gauntlet tools --help'],
    [['exec', 'Read'], 'takes TOOL and INPUT'],
    [['token', 'x'], 'takes no operands'],
  ])('refuses %j', (words, message) => {
    expect(() => parseCommandLine(words)).toThrow(message);
  });
});
