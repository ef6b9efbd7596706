/**
 * Every tool is made here: what its definition leaves out is answered "no".
 */
import type { AnyObject, Tool, ToolProgressData } from './tool.ts';

/** Members a definition may leave out. */
type DefaultedMember =
  | 'userFacingName'
  | 'isEnabled'
  | 'isReadOnly'
  | 'isConcurrencySafe'
  | 'isDestructive'
  | 'checkPermissions'
  | 'toAutoClassifierInput'
  | 'renderToolUseMessage';

/** What a tool's author writes: a `Tool` whose defaulted members are optional. */
export type ToolDefinition<Input extends AnyObject, Output, P extends ToolProgressData> = Omit<
  Tool<Input, Output, P>,
  DefaultedMember
> &
  Partial<Pick<Tool<Input, Output, P>, DefaultedMember>>;

/** The members a definition has; one that is present but undefined counts as left out. */
type Given<D> = { [Member in keyof D as D[Member] extends undefined ? never : Member]: D[Member] };

/** The tool `buildTool` returns: as narrow as its definition, with no defaulted member missing. */
export type BuiltTool<D extends { readonly inputSchema: AnyObject }> = Readonly<
  Omit<Required<Pick<Tool<D['inputSchema']>, DefaultedMember>>, keyof Given<D>> & Given<D>
>;

/** `isEnabled` of a tool that has none of its own: it need not be asked again. */
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
 * Make a tool from its definition, defaults spread under it.
 *
 * @param definition Never changed; members that are present but undefined count as left out.
 * @returns A new frozen tool whose type is as narrow as the definition.
 */
export function buildTool<
  Input extends AnyObject,
  Output,
  P extends ToolProgressData,
  const D extends ToolDefinition<Input, Output, P>,
>(definition: D & { readonly inputSchema: Input } & ToolDefinition<Input, Output, P>): BuiltTool<D> {
  const given = Object.fromEntries(Object.entries(definition).filter(([, member]) => member !== undefined));
  const tool = {
    ...FAIL_CLOSED,
    userFacingName: () => definition.name,
    renderToolUseMessage: () => ({ title: definition.name, blocks: [] }),
    ...given,
  };
  return Object.freeze(tool) as unknown as BuiltTool<D>;
}
