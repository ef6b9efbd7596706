/**
 * Builds tools from definitions; every member that a definition omits gets the cautious default.
 */
import type { AnyObject, Tool, ToolProgressData } from './tool.ts';

/** Members that a definition may omit. */
type DefaultedMember =
  | 'userFacingName'
  | 'isEnabled'
  | 'isReadOnly'
  | 'isConcurrencySafe'
  | 'isDestructive'
  | 'checkPermissions'
  | 'toAutoClassifierInput'
  | 'renderToolUseMessage';

/** Definition by a tool's author: a `Tool` whose defaulted members are optional. */
export type ToolDefinition<Input extends AnyObject, Output, P extends ToolProgressData> = Omit<
  Tool<Input, Output, P>,
  DefaultedMember
> &
  Partial<Pick<Tool<Input, Output, P>, DefaultedMember>>;

/** Members that a definition has; one that is present but `undefined` counts as omitted. */
type DefinedMembers<D> = { [Member in keyof D as D[Member] extends undefined ? never : Member]: D[Member] };

/** Result of `buildTool`: as narrow as its definition, with every defaulted member present. */
export type BuiltTool<D extends { readonly inputSchema: AnyObject }> = Readonly<
  Omit<Required<Pick<Tool<D['inputSchema']>, DefaultedMember>>, keyof DefinedMembers<D>> & DefinedMembers<D>
>;

/** Default of `isEnabled`, compared by identity to skip the call. */
export const alwaysEnabled = () => true;

const FAIL_CLOSED = {
  isEnabled: alwaysEnabled,
  isReadOnly: () => false,
  isConcurrencySafe: () => false,
  isDestructive: () => false,
  checkPermissions: () => ({ behavior: 'allow' as const }),
  toAutoClassifierInput: () => '',
};

/**
 * Build a tool from its definition and the defaults.
 *
 * @param definition Never changed; members that are present but `undefined` count as omitted.
 * @returns A new frozen tool whose type is as narrow as the definition.
 */
export function buildTool<
  Input extends AnyObject,
  Output,
  P extends ToolProgressData,
  const D extends ToolDefinition<Input, Output, P>,
>(definition: D & { readonly inputSchema: Input } & ToolDefinition<Input, Output, P>): BuiltTool<D> {
  const definedMembers = Object.fromEntries(Object.entries(definition).filter(([, member]) => member !== undefined));
  const tool = {
    ...FAIL_CLOSED,
    userFacingName: () => definition.name,
    renderToolUseMessage: () => ({ title: definition.name, blocks: [] }),
    ...definedMembers,
  };
  return Object.freeze(tool) as unknown as BuiltTool<D>;
}
