/**
 * The input of a call, as a form made from its schema or as JSON. What does not fit the schema is told beside its field.
 */
import { useMemo, useState } from 'react';
import {
  fieldsOf,
  type InputIssue,
  issuesOf,
  type SchemaField,
  textOfValue,
  valueOfText,
} from '../model/schema-form.ts';
import type { JsonSchema } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { Choice, Field } from './controls.tsx';

type Input = Readonly<Record<string, unknown>>;

interface Props {
  readonly schema: JsonSchema | undefined;
  readonly value: Input;
  /** Told of each change, with what is wrong; `undefined`: the text is no JSON yet. */
  onChange(value: Input | undefined): void;
  /** Show what is missing, not only what is wrong in fields that were touched. */
  readonly isStrict?: boolean;
}

/** Input of a call. */
export function InputForm({ schema, value, onChange, isStrict = false }: Props) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const hasUnknown = Object.keys(value).some((name) => !fields.some((field) => field.name === name));
  const [mode, setMode] = useState<'form' | 'json'>(hasUnknown || (fields.length === 0 && schema) ? 'json' : 'form');
  // A field that was empty at first stays where it is while somebody fills it in.
  const [given] = useState(value);
  const issues = useMemo(() => issuesOf(value, schema), [value, schema]);
  const isFolded = (field: SchemaField) => !field.isRequired && !Object.hasOwn(given, field.name);
  const isLong = fields.some(({ isRequired }) => isRequired) && fields.filter(isFolded).length > 1;
  const first = isLong ? fields.filter((field) => !isFolded(field)) : fields;
  const folded = isLong ? fields.filter(isFolded) : [];
  const draw = (field: SchemaField) => (
    <InputField
      key={field.name}
      field={field}
      value={value[field.name]}
      problem={problemOf(field, issues, isStrict || Object.hasOwn(value, field.name))}
      onChange={(next) => onChange(changed(value, field.name, next))}
    />
  );
  return (
    <div className="input-form">
      <Choice
        label={TEXTS.try.inputMode}
        value={mode}
        options={[
          ['form', TEXTS.try.form],
          ['json', TEXTS.try.json],
        ]}
        onChange={setMode}
      />
      {mode === 'json' ? (
        <JsonInput value={value} issues={isStrict ? issues : []} onChange={onChange} />
      ) : (
        <div className="fields">
          {fields.length === 0 && <p className="muted">{TEXTS.try.noFields}</p>}
          {first.map(draw)}
          {folded.length > 0 && (
            <details className="more-fields" open={hasProblem(folded, issues, value)}>
              <summary>{TEXTS.try.moreFields(folded.length)}</summary>
              <div className="fields">{folded.map(draw)}</div>
            </details>
          )}
        </div>
      )}
    </div>
  );
}

/** True if a field that is folded away has a fault: then it is shown. */
function hasProblem(fields: readonly SchemaField[], issues: readonly InputIssue[], value: Input): boolean | undefined {
  return fields.some((field) => Object.hasOwn(value, field.name) && problemOf(field, issues, true)) || undefined;
}

function changed(value: Input, name: string, next: unknown): Input {
  const { [name]: _, ...rest } = value;
  return next === undefined ? rest : { ...value, [name]: next };
}

function problemOf({ name }: SchemaField, issues: readonly InputIssue[], isShown: boolean): string | undefined {
  const found = issues.find(({ path }) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
  if (!found || !isShown) return undefined;
  return found.path === name ? found.message : `${found.path} ${found.message}`;
}

function JsonInput({
  value,
  issues,
  onChange,
}: {
  value: Input;
  issues: readonly InputIssue[];
  onChange: Props['onChange'];
}) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [problem, setProblem] = useState<string>();
  const read = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
        throw new SyntaxError('not an object');
      setProblem(undefined);
      onChange(parsed as Input);
    } catch (error) {
      setProblem(TEXTS.try.notJson + (error as Error).message);
      onChange(undefined);
    }
  };
  const told = problem ?? issues.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return (
    <Field label={TEXTS.try.input} problem={told || undefined}>
      {(ids) => (
        <textarea
          {...ids}
          className="mono"
          rows={Math.min(24, Math.max(6, text.split('\n').length + 1))}
          spellCheck={false}
          value={text}
          onChange={(event) => read(event.target.value)}
        />
      )}
    </Field>
  );
}

interface InputFieldProps {
  readonly field: SchemaField;
  readonly value: unknown;
  readonly problem: string | undefined;
  onChange(value: unknown): void;
}

function InputField({ field, value, problem, onChange }: InputFieldProps) {
  const { name, kind, isRequired, description } = field;
  const [draft, setDraft] = useState<{ text: string; problem?: string }>();
  const text = draft?.text ?? textOfValue(value, kind);
  const read = (next: string) => {
    try {
      onChange(valueOfText(next, field));
      setDraft(kind === 'texts' || kind === 'number' || kind === 'json' ? { text: next } : undefined);
    } catch (error) {
      setDraft({ text: next, problem: TEXTS.try.notJson + (error as Error).message });
    }
  };
  const label = (
    <>
      <code>{name}</code> {isRequired && <span className="required">{TEXTS.try.required}</span>}
    </>
  );
  const help = [description, kind === 'texts' && TEXTS.try.oneALine].filter(Boolean).join(' ');
  return (
    <Field label={label} help={help || undefined} problem={draft?.problem ?? problem}>
      {(ids) => <Control ids={{ ...ids, required: isRequired }} field={field} text={text} onChange={read} />}
    </Field>
  );
}

interface ControlProps {
  readonly ids: Record<string, unknown>;
  readonly field: SchemaField;
  readonly text: string;
  onChange(text: string): void;
}

function Control({ ids, field: { kind, choices, isRequired }, text, onChange }: ControlProps) {
  if (kind === 'choice' || kind === 'boolean') {
    const options = choices ?? ['true', 'false'];
    return (
      <select {...ids} value={text} onChange={(event) => onChange(event.target.value)}>
        {(!isRequired || text === '') && <option value="">{TEXTS.try.unset}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {kind === 'boolean' ? (option === 'true' ? TEXTS.try.yes : TEXTS.try.no) : option}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'text' || kind === 'number') {
    return (
      <input
        {...ids}
        type="text"
        inputMode={kind === 'number' ? 'decimal' : 'text'}
        spellCheck={false}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  const rows = Math.min(16, Math.max(kind === 'json' ? 4 : 2, text.split('\n').length));
  return (
    <textarea
      {...ids}
      className="mono"
      rows={rows}
      spellCheck={false}
      value={text}
      onChange={(e) => onChange(e.target.value)}
    />
  );
}
