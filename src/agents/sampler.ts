/** Answers requests of MCP servers for a message of a model. */
import type { ModelSettings } from '../../config/settings/models.ts';
import type { Sampler } from '../mcp/sampling.ts';
import { type ConversationMessage, replyText } from './conversation.ts';
import { openModel } from './model.ts';

/** Instructions where a server gives none: providers refuse an empty text. */
const NO_INSTRUCTIONS = 'Answer the message.';

/** Create a sampler. Nothing is loaded or sent before the first request. */
export function createSampler(name: string, settings: ModelSettings, maxTokens: number): Sampler {
  return {
    name,
    maxTokens,
    async reply({ system, messages, maxTokens: modelReplyTokens }, { signal, trace }) {
      const model = openModel(name, settings, { modelReplyTokens });
      const conversation = messages as readonly ConversationMessage[];
      const listener = { signal, trace, onText: () => undefined, onCall: () => undefined };
      const request = { system: system === '' ? NO_INSTRUCTIONS : system, tools: [], messages: conversation };
      const { content, stop } = await model.reply(request, listener);
      return { text: replyText(content), isCut: stop === 'length' };
    },
  };
}
