/**
 * All pools of a server, each assembled once.
 *
 * A pool depends on the tool mode, on the rules and the list of external tools, by identity, and on which tools are
 * enabled at the moment; its words on the whole permission context. Weak keys: a pool lives as long as what it was
 * made from.
 */
import { assembleMembers, worded, type PoolConfiguration } from './assemble.ts';
import type { PoolContext } from './get-tools.ts';
import { alwaysEnabled } from '../contract/build-tool.ts';
import type { PoolMembers, ToolPool } from './tool-pool.ts';
import type { Tool } from '../contract/tool.ts';

/** Where sessions and doors get their pools. */
export interface ToolPools {
  /**
   * The pool of a context: the same object for the same mode, permissions and list of external tools, as long as no
   * tool becomes enabled or disabled.
   *
   * @param externalTools From MCP and plugins, without a session if `context` has no permissions. A changed list is a new array.
   */
  pool(context: PoolContext, externalTools: readonly Tool[]): ToolPool;
}

/** The members last assembled for a mode, and what was disabled then. */
interface AssembledMembers {
  readonly disabled: string;
  readonly members: PoolMembers;
}

const NOBODY: object = {};

/** Make the pools over `baseTools`, all built-ins in any order. */
export function createToolPools(baseTools: readonly Tool[], configuration: PoolConfiguration): ToolPools {
  const assembled = new WeakMap<readonly Tool[], WeakMap<object, Map<string, AssembledMembers>>>();
  const switchable = new WeakMap<readonly Tool[], readonly Tool[]>();
  const pools = new WeakMap<PoolMembers, WeakMap<object, ToolPool>>();

  /** Names of the tools that are disabled at the moment; most tools can never be, and are not asked. */
  function disabledNames(externalTools: readonly Tool[]): string {
    const asked = computed(switchable, externalTools, () =>
      [...baseTools, ...externalTools].filter(({ isEnabled }) => isEnabled !== alwaysEnabled),
    );
    return asked.flatMap((tool) => (tool.isEnabled() ? [] : [tool.name])).join();
  }

  function members(context: PoolContext, externalTools: readonly Tool[]): PoolMembers {
    const byRules = computed(assembled, externalTools, () => new WeakMap());
    const byMode = computed(byRules, context.permissions?.rules ?? NOBODY, () => new Map());
    const disabled = disabledNames(externalTools);
    const known = byMode.get(context.toolMode);
    if (known?.disabled === disabled) return known.members;
    const made = assembleMembers(context, baseTools, externalTools, configuration);
    byMode.set(context.toolMode, { disabled, members: made });
    return made;
  }

  return {
    pool(context, externalTools) {
      const made = members(context, externalTools);
      const byPermissions = computed(pools, made, () => new WeakMap<object, ToolPool>());
      return computed(byPermissions, context.permissions ?? NOBODY, () => worded(made, context.permissions));
    },
  };
}

interface Store<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

function computed<Key, Value>(store: Store<Key, Value>, key: Key, compute: () => Value): Value {
  const known = store.get(key);
  if (known !== undefined) return known;
  const value = compute();
  store.set(key, value);
  return value;
}
