/**
 * Caches all pools of a server.
 *
 * The members of a pool depend on the tool mode, on the identity of the rules, of the list of external tools and of the
 * session's own tools, and on which tools are enabled; its prompts also on the permission context, the principal and
 * the working directory. Keys are weak, so that a pool lives as long as its inputs.
 */
import { assembleMembers, poolForContext, type PoolConfiguration } from './assemble.ts';
import type { PoolContext } from './get-tools.ts';
import { alwaysEnabled } from '../tool/build-tool.ts';
import type { PoolMembers, ToolPool } from './tool-pool.ts';
import type { ListContext, Tool } from '../tool/tool.ts';

/** Source of pools for sessions and routes. */
export interface ToolPools {
  /**
   * Return the pool of a context: the same object for the same context and list of external tools, until a tool becomes
   * enabled or disabled.
   *
   * @param externalTools From MCP and plugins; those of no session if `context` has no permissions. A changed list must
   * be a new array.
   */
  pool(context: PoolContext, externalTools: readonly Tool[]): ToolPool;
}

/** Members last assembled for a mode, with the names disabled at that time. */
interface AssembledMembers {
  readonly disabled: string;
  readonly members: PoolMembers;
}

const NOBODY: object = {};
/** Pools cached per permission context, since a session may alternate between folders. */
const MAX_CACHED_POOLS = 8;

/** Create the cache. @param baseTools All built-ins, in any order. */
export function createToolPools(baseTools: readonly Tool[], configuration: PoolConfiguration): ToolPools {
  const assembled = new WeakMap<readonly Tool[], WeakMap<object, WeakMap<object, Map<string, AssembledMembers>>>>();
  const switchable = new WeakMap<readonly Tool[], readonly Tool[]>();
  const pools = new WeakMap<PoolMembers, WeakMap<object, Map<string, ToolPool>>>();

  /** List the names of disabled tools. Most tools are always enabled and not queried. */
  function disabledNames(list: ListContext, externalTools: readonly Tool[]): string {
    const asked = computed(switchable, externalTools, () =>
      [...baseTools, ...externalTools].filter(({ isEnabled }) => isEnabled !== alwaysEnabled),
    );
    // A loop, since each call and each list takes it.
    let names = '';
    for (const tool of asked) if (!tool.isEnabled(list)) names += `${tool.name},`;
    return names;
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
      if (byPlace.size > MAX_CACHED_POOLS && oldest !== undefined) byPlace.delete(oldest);
      return computed(byPlace, `${context.principal} ${context.cwd}`, () => poolForContext(made, context));
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
