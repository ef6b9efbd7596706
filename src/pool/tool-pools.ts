/**
 * All pools of a server, each assembled once.
 *
 * A pool depends on the tool mode, on the rules, the list of external tools and the session's own tools, by identity, and
 * on which tools are enabled at the moment; its words on the whole permission context, the principal and the working
 * directory. Weak keys: a pool lives as long as what it was made from.
 */
import { assembleMembers, worded, type PoolConfiguration } from './assemble.ts';
import type { PoolContext } from './get-tools.ts';
import { alwaysEnabled } from '../tool/build-tool.ts';
import type { PoolMembers, ToolPool } from './tool-pool.ts';
import type { ListContext, Tool } from '../tool/tool.ts';

/** Where sessions and doors get their pools. */
export interface ToolPools {
  /**
   * The pool of a context: the same object for the same context and list of external tools, as long as no tool becomes
   * enabled or disabled.
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
/** Words kept of one permission context: a session that changes its folder goes back and forth. */
const MAX_WORDED = 8;

/** Make the pools over `baseTools`, all built-ins in any order. */
export function createToolPools(baseTools: readonly Tool[], configuration: PoolConfiguration): ToolPools {
  const assembled = new WeakMap<readonly Tool[], WeakMap<object, WeakMap<object, Map<string, AssembledMembers>>>>();
  const switchable = new WeakMap<readonly Tool[], readonly Tool[]>();
  const pools = new WeakMap<PoolMembers, WeakMap<object, Map<string, ToolPool>>>();

  /** Names of the tools that are disabled at the moment; most tools can never be, and are not asked. */
  function disabledNames(list: ListContext, externalTools: readonly Tool[]): string {
    const asked = computed(switchable, externalTools, () =>
      [...baseTools, ...externalTools].filter(({ isEnabled }) => isEnabled !== alwaysEnabled),
    );
    return asked.flatMap((tool) => (tool.isEnabled(list) ? [] : [tool.name])).join();
  }

  function members(context: PoolContext, externalTools: readonly Tool[]): PoolMembers {
    const byRules = computed(assembled, externalTools, () => new WeakMap());
    const byOwn = computed(byRules, context.permissions?.rules ?? NOBODY, () => new WeakMap());
    const byMode = computed(byOwn, context.own ?? NOBODY, () => new Map());
    const disabled = disabledNames(context, externalTools);
    const known = byMode.get(context.toolMode);
    if (known?.disabled === disabled) return known.members;
    const made = assembleMembers(context, baseTools, externalTools, configuration);
    byMode.set(context.toolMode, { disabled, members: made });
    return made;
  }

  return {
    pool(context, externalTools) {
      const made = members(context, externalTools);
      const byPermissions = computed(pools, made, () => new WeakMap());
      const byPlace = computed(byPermissions, context.permissions ?? NOBODY, () => new Map<string, ToolPool>());
      const [oldest] = byPlace.keys();
      if (byPlace.size > MAX_WORDED && oldest !== undefined) byPlace.delete(oldest);
      return computed(byPlace, `${context.principal} ${context.cwd}`, () => worded(made, context));
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
