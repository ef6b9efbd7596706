import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { principalAccess } from '../../bin/principal-access.ts';
import { loadSettings } from '../../config/settings.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const root = realpathSync(temporaryFolder());
const folder = (name: string) => join(root, 'work', name);
for (const name of ['ann', 'shared', 'other']) mkdirSync(folder(name), { recursive: true });
mkdirSync(join(root, 'data'));
symlinkSync(folder('other'), folder('ann/link'));

function accessWith(ann: object, permissions: object = {}, rules: Record<string, readonly string[]> = {}) {
  const file = join(root, 'settings.json');
  const principal = { name: 'ann', tokenSha256: 'ab'.repeat(32), roots: ['ann'], ...ann };
  writeFileSync(file, JSON.stringify({ permissions, principals: [principal] }));
  const environment = {
    HOME: root,
    GAUNTLET_DATA_DIR: join(root, 'data'),
    GAUNTLET_CONFIG: file,
    GAUNTLET_WORKSPACE: join(root, 'work'),
  };
  return principalAccess(loadSettings({ environment, rules }));
}

describe('a session that is woken', () => {
  test('has no mode beyond what its principal may have now', () => {
    const { permissionsFor } = accessWith({ maxMode: 'acceptEdits' });
    expect(permissionsFor('ann', { mode: 'bypassPermissions', isLogged: true }).mode).toBe('acceptEdits');
    expect(() => permissionsFor('ann', { mode: 'bypassPermissions' })).toThrow('maxMode');
    expect(permissionsFor('owner', { mode: 'bypassPermissions' }).mode).toBe('bypassPermissions');
  });

  test('does not stay in a mode that the settings have disabled since', () => {
    const { permissionsFor } = accessWith({}, { disableBypassPermissionsMode: 'disable' });
    expect(permissionsFor('owner', { mode: 'bypassPermissions', isLogged: true }).mode).toBe('default');
  });

  test('has no directory outside the roots its principal has now', () => {
    const { permissionsFor, checkFolders } = accessWith({ roots: ['ann', 'shared'] });
    const additionalDirectories = [folder('shared'), folder('other'), folder('ann/link/x'), folder('ann/new')];
    const woken = permissionsFor('ann', { additionalDirectories, isLogged: true });
    expect(woken.additionalDirectories).toEqual([folder('shared'), folder('ann/new')]);
    expect(() => checkFolders('ann', [folder('other')])).toThrow('must lie in the roots');
    expect(() => checkFolders('owner', ['/usr'])).not.toThrow();
    for (const who of ['ann', 'owner']) expect(() => checkFolders(who, [join(root, 'data')])).toThrow('own data');
  });

  test('has nobody it belongs to when its principal is gone', () => {
    const { permissionsFor, resolveFolder } = accessWith({});
    expect(() => permissionsFor('bob', { isLogged: true })).toThrow('no principal "bob" any more');
    expect(() => resolveFolder('bob', undefined)).toThrow('no principal "bob" any more');
  });
});

test('sessions that ask for nothing of their own share one context', () => {
  const { permissionsFor } = accessWith({ maxMode: 'default' }, { defaultMode: 'acceptEdits' });
  expect(permissionsFor('ann', {})).toBe(permissionsFor('ann', { mode: 'default' }));
  expect(permissionsFor('ann', {})).not.toBe(permissionsFor('owner', {}));
});

const settingsWith = (rulesFile: string) =>
  loadSettings({ environment: { HOME: root, GAUNTLET_WORKSPACE: join(root, 'work') }, rulesFile });

describe('rules of the command line', () => {
  test('hold in every session, under a source of their own', () => {
    const { permissionsFor } = accessWith({}, { deny: ['Bash'] }, { ask: ['Read'] });
    expect(permissionsFor('ann', {}).rules).toEqual({
      userSettings: { allow: [], ask: [], deny: ['Bash'] },
      cliArg: { allow: [], ask: ['Read'], deny: [] },
    });
  });

  test('may come from a file, under a source of theirs as well', () => {
    const rulesFile = join(temporaryFolder(), 'rules.json');
    writeFileSync(rulesFile, '{"permissions": {"deny": ["Bash(rm:*)"], "additionalDirectories": ["/srv"]}} // mine');
    const { permissions } = settingsWith(rulesFile);
    expect(permissions).toMatchObject({
      rules: { flagSettings: { allow: [], ask: [], deny: ['Bash(rm:*)'] } },
      additionalDirectories: ['/srv'],
    });
  });

  test.each([
    ['{"permissions": {"defaultMode": "plan"}}', 'permissions.defaultMode'],
    ['{"permissions": {"deny": ["Bash("]}}', 'permissions.deny'],
    [undefined, 'there is no file'],
  ])('in a file that says %s stop the start', (text, problem) => {
    const rulesFile = join(temporaryFolder(), 'rules.json');
    if (text !== undefined) writeFileSync(rulesFile, text);
    expect(() => settingsWith(rulesFile)).toThrow(problem);
  });

  test.each([
    ['no rule at all', '--deny'],
    ['Bash(!x)', 'Cannot use rule "Bash(!x)"'],
  ])('that cannot be understood, %j, stop the start', (rule, problem) => {
    expect(() => accessWith({}, {}, { deny: [rule] })).toThrow(problem);
  });
});
