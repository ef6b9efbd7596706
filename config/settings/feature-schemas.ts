/**
 * Shapes of the settings that configure one feature each.
 */
import { z } from 'zod';
import { reachableHost } from './reachable-host.ts';
import { section } from './section.ts';

const text = z.string().min(1, 'must not be empty');
const httpUrl = z.url({ protocol: /^https?$/ });
/** A key is given, or the variable that holds it is named, not both. */
const apiKey = { apiKey: text.optional(), apiKeyEnv: text.optional() };

/** Where commands run. */
export const sandbox = section({
  mode: z.enum(['off', 'auto', 'required']),
  network: z.union([z.enum(['off', 'on']), section({ allow: z.array(reachableHost) })]).optional(),
  autoAllow: z.boolean().optional(),
});

/** Models that agents may use, by name. */
export const agentModels = z.record(
  text,
  section({ provider: z.enum(['anthropic', 'openai']), baseUrl: httpUrl.optional(), ...apiKey, model: text }),
);

/** The search engine. */
export const webSearch = section({
  engine: z.enum(['searxng', 'brave', 'tavily']),
  baseUrl: httpUrl.optional(),
  ...apiKey,
});

/** Language servers by language. */
export const languageServers = z.record(
  text,
  section({ command: text, args: z.array(z.string()).optional(), extensions: z.array(text) }),
);

/** Principals beside the one of `GAUNTLET_TOKEN`. */
export function principals<Mode extends z.ZodType, LimitNumbers extends z.ZodType>(mode: Mode, limits: LimitNumbers) {
  return z.array(
    section({
      name: z.string().regex(/^[\w.@-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", ".", "@" or "-"'),
      tokenSha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits in lower case'),
      roots: z.array(text),
      maxMode: mode.optional(),
      limits: limits.optional(),
    }),
  );
}
