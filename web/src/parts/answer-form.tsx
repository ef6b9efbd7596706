/**
 * The form of a question that asks for more than yes or no.
 */
import { useState } from 'react';
import type { BlockOf, FormField } from '../model/wire.ts';
import { TEXTS } from '../texts.ts';
import { Field } from './controls.tsx';
import { Code, Line } from './plain-text.tsx';

/** Value of the choice that stands for words of one's own. */
const OTHER = 'Other';

/** Values of a form by the names of its fields. */
export type FormValues = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Values that a form begins with. */
export function firstValues({ fields }: BlockOf<'form'>): FormValues {
  return Object.fromEntries(fields.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

/** True if each required field has a value. */
export function isFilled({ fields }: BlockOf<'form'>, values: FormValues): boolean {
  return fields.every(({ name, required }) => {
    const value = values[name];
    return required !== true || (value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0));
  });
}

interface Props {
  readonly form: BlockOf<'form'>;
  readonly values: FormValues;
  onChange(values: FormValues): void;
}

/** Fields of a question. */
export function AnswerForm({ form, values, onChange }: Props) {
  return form.fields.map((field) => {
    const change = (value: FormValues[string] | undefined) => {
      const { [field.name]: _, ...rest } = values;
      onChange(value === undefined ? rest : { ...values, [field.name]: value });
    };
    return <AnswerField key={field.name} field={field} value={values[field.name]} onChange={change} />;
  });
}

interface FieldProps {
  readonly field: FormField;
  readonly value: FormValues[string] | undefined;
  onChange(value: FormValues[string] | undefined): void;
}

function AnswerField({ field, value, onChange }: FieldProps) {
  if (field.type === 'choice') return <ChoiceField field={field} value={value} onChange={onChange} />;
  if (field.type === 'boolean') {
    return (
      <label className="check">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        <span>
          <Line text={field.label} />
          {field.description && <Line text={field.description} className="help" />}
        </span>
      </label>
    );
  }
  const text = value === undefined ? '' : String(value);
  const read = (next: string) => {
    if (next === '') onChange(undefined);
    else onChange(field.type === 'number' && !Number.isNaN(Number(next)) ? Number(next) : next);
  };
  const isLong = field.type === 'text' && (text.includes('\n') || text.length > 80);
  return (
    <Field label={<Label field={field} />} help={field.description && <Line text={field.description} />}>
      {(ids) =>
        isLong ? (
          <textarea {...ids} rows={10} value={text} onChange={(event) => read(event.target.value)} />
        ) : (
          <input {...ids} type="text" value={text} onChange={(event) => read(event.target.value)} />
        )
      }
    </Field>
  );
}

function ChoiceField({ field, value, onChange }: FieldProps) {
  const { name, description, multiple = false, other = false } = field;
  // Clients that have no field for other words offer this choice; this page has one.
  const choices = (field.choices ?? []).filter(({ value: each }) => !(other && each === OTHER));
  const chosen = value === undefined ? [] : [value].flat().map(String);
  const known = choices.map((choice) => choice.value);
  const own = chosen.find((each) => !known.includes(each));
  const [words, setWords] = useState(own ?? '');
  const [isOther, setOther] = useState(own !== undefined);
  const choose = (next: string, isOn: boolean) => {
    if (!multiple) {
      setOther(false);
      return onChange(next);
    }
    const rest = chosen.filter((each) => each !== next);
    const list = isOn ? [...rest, next] : rest;
    onChange(list.length === 0 ? undefined : list);
  };
  const sayOther = (text: string, isOn: boolean) => {
    setWords(text);
    setOther(isOn);
    const picked = multiple ? chosen.filter((each) => known.includes(each)) : [];
    const list = isOn && text !== '' ? [...picked, text] : picked;
    onChange(list.length === 0 ? undefined : multiple ? list : list[0]);
  };
  const type = multiple ? 'checkbox' : 'radio';
  return (
    <fieldset className="choices">
      <legend>
        <Label field={field} />
      </legend>
      {description && <Line text={description} className="help" />}
      {choices.map((choice) => (
        <label key={choice.value} className="option">
          <input
            {...{ type, name }}
            checked={chosen.includes(choice.value) && (multiple || !isOther)}
            onChange={(event) => choose(choice.value, event.target.checked)}
          />
          <span>
            <Line text={choice.label} className="option-label" />
            {choice.description && <Line text={choice.description} className="help" />}
            {choice.preview && <Code text={choice.preview} lines={8} />}
          </span>
        </label>
      ))}
      {other && <OtherOption {...{ type, name, words, isChosen: isOther }} onSay={sayOther} />}
    </fieldset>
  );
}

function Label({ field: { label, required } }: { readonly field: FormField }) {
  return (
    <>
      <Line text={label} /> {required && <span className="required">{TEXTS.try.required}</span>}
    </>
  );
}

interface OtherProps {
  readonly type: 'radio' | 'checkbox';
  readonly name: string;
  readonly words: string;
  readonly isChosen: boolean;
  onSay(words: string, isChosen: boolean): void;
}

function OtherOption({ type, name, words, isChosen, onSay }: OtherProps) {
  return (
    <label className="option">
      <input {...{ type, name }} checked={isChosen} onChange={(event) => onSay(words, event.target.checked)} />
      <span className="option-other">
        <span className="option-label">{TEXTS.questions.other}</span>
        <input
          type="text"
          aria-label={TEXTS.questions.otherWords}
          value={words}
          onChange={(event) => onSay(event.target.value, true)}
        />
      </span>
    </label>
  );
}
