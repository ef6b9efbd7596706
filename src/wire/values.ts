/**
 * Values that many wire shapes hold.
 */
import * as z from 'zod';
import type { JsonValue } from '../base/json.ts';

/** Any JSON value. */
export const Json = z.custom<JsonValue>();

/** Any JSON object. */
export const JsonRecord = z.record(z.string(), Json);

/** A number of things, from 0. */
export const Count = z.int().min(0);

/** ISO 8601 in UTC. */
export const Time = z.iso.datetime();

/** A list of texts. */
export const Texts = z.array(z.string());
