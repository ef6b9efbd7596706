/**
 * Buttons, fields, dialogs and notes.
 */
import { Dialog as RadixDialog } from 'radix-ui';
import { type ButtonHTMLAttributes, type ReactNode, useId } from 'react';
import { TEXTS } from '../texts.ts';
import { Icon, type IconName } from './icons.tsx';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
}

/** A button; a busy one is `disabled`. */
export function Button({ look = 'plain', icon, children, className = '', ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} className={`button ${look} ${className}`}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that shows a picture alone. */
export function IconButton({
  icon,
  label,
  ...rest
}: ButtonProps & { readonly icon: IconName; readonly label: string }) {
  return (
    <button type="button" {...rest} className={`icon-button ${rest.className ?? ''}`} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}

interface FieldProps {
  readonly label: ReactNode;
  readonly help?: ReactNode;
  readonly problem?: string | undefined;
  children(ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }): ReactNode;
}

/** A control with its label, its help and what is wrong with it. */
export function Field({ label, help, problem, children }: FieldProps) {
  const id = useId();
  const notes = [help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': notes || undefined, 'aria-invalid': problem !== undefined })}
      {help && (
        <p className="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {problem && (
        <p className="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly children: ReactNode;
  readonly isWide?: boolean;
  onClose(): void;
}

/** A dialog. Radix's own overlay would add a style element, which the policy of this page forbids. */
export function Dialog({ title, isOpen, isWide, children, onClose }: DialogProps) {
  return (
    <RadixDialog.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <RadixDialog.Portal>
        <div className="backdrop" />
        <RadixDialog.Content className={`dialog ${isWide ? 'wide' : ''}`} aria-describedby={undefined}>
          <header className="dialog-head">
            <RadixDialog.Title className="dialog-title">{title}</RadixDialog.Title>
            <RadixDialog.Close asChild>
              <IconButton icon="close" label={TEXTS.common.close} />
            </RadixDialog.Close>
          </header>
          <div className="dialog-body">{children}</div>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** A message where there is nothing to list. */
export function Empty({ title, children, icon }: { title: string; children?: ReactNode; icon?: IconName }) {
  return (
    <div className="empty">
      {icon && <Icon name={icon} size={28} />}
      <p className="empty-title">{title}</p>
      {children && <div className="empty-words">{children}</div>}
    </div>
  );
}

/** A fault, told to those who cannot see it, too. */
export function Problem({ children }: { readonly children: ReactNode }) {
  if (!children) return null;
  return (
    <p className="note danger" role="alert">
      <Icon name="warning" />
      <span>{children}</span>
    </p>
  );
}

/** One of a few choices, as buttons side by side. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [NoInfer<Value>, string])[];
  onChange(value: NoInfer<Value>): void;
}) {
  return (
    <div className="choice" role="group" aria-label={label}>
      {options.map(([each, words]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
          {words}
        </button>
      ))}
    </div>
  );
}

/** Title of a view, with what can be done in it. */
export function ViewHead({ title, children }: { readonly title: ReactNode; readonly children?: ReactNode }) {
  return (
    <header className="view-head">
      <h1>{title}</h1>
      {children && <div className="view-actions">{children}</div>}
    </header>
  );
}

/** Words between backquotes as code. */
export function Words({ children }: { readonly children: string }) {
  return children.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
