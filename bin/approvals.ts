/**
 * Creates the approvals beside rules: a second person, webhooks that announce questions, and a model in mode "auto".
 */
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { errorMessage, GauntletError } from '../src/base/errors.ts';
import { rememberingClassifier } from '../src/permissions/classifier.ts';
import { createModelClassifier } from '../src/permissions/model-classifier.ts';
import { createQuestionWebhooks } from '../src/permissions/question-webhooks.ts';
import { twoPersonRules, type TwoPersonRules } from '../src/permissions/two-person.ts';
import type { SessionParts } from './session-services.ts';

/** Services for sessions, with the function that ends them. */
export interface Approvals extends Pick<SessionParts, 'twoPerson' | 'classifier' | 'onQuestion' | 'onQuestionEnd'> {
  close(): void;
}

/** Create the approvals. @throws {GauntletError} `invalid_setting` */
export function createApprovals(settings: Settings, logger: Logger): Approvals {
  const { approvals, classifierModel } = settings;
  const onProblem = (message: string): void => logger.warn(message);
  const webhooks = createQuestionWebhooks({ webhooks: approvals.webhooks, onProblem });
  return {
    // The owner is a principal too.
    twoPerson: rulesOf(approvals.twoPerson, 1 + settings.principals.length),
    classifier: classifierModel && rememberingClassifier(createModelClassifier(classifierModel)),
    onQuestion: webhooks?.announce,
    onQuestionEnd: webhooks?.settle,
    close: () => webhooks?.close(),
  };
}

function rulesOf(rules: readonly string[], principals: number): TwoPersonRules | undefined {
  try {
    return twoPersonRules(rules, principals);
  } catch (error) {
    throw new GauntletError('invalid_setting', `Setting "approvals.twoPerson": ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
