/** A bare deny rule takes a tool out of the pool; found where all rules are. */
export { hidingRule } from './rule-index.ts';
