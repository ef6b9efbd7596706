/**
 * Hooks that views share: watched values, the place in the address, the time, requests.
 */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { wordsOf } from '../api/server.ts';
import type { Watched } from '../api/signal.ts';
import { hrefOf, type Place, readPlace } from '../model/deep-link.ts';

/** The value of a cell, drawn again when it changes. */
export function useWatched<Value>(watched: Watched<Value>): Value {
  return useSyncExternalStore(watched.subscribe, watched.get);
}

/** The place that the address names. */
export function usePlace(): Place {
  const hash = useSyncExternalStore(onHashChange, () => location.hash);
  return readPlace(hash);
}

/** Go to another place. */
export function goTo(place: Place): void {
  location.hash = hrefOf(place);
}

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** The time in milliseconds, drawn again every so often. */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

/** True while the page is as wide as a media query says. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** Outcome of a request. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

/** Load something, and again when `keys` change. The last value stays while the next one loads. */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  keys: readonly unknown[],
): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; problem?: string; isLoading: boolean }>({ isLoading: true });
  const [count, setCount] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((old) => ({ ...old, isLoading: true }));
    load(controller.signal).then(
      (value) => controller.signal.aborted || setState({ value, isLoading: false }),
      (error: unknown) =>
        controller.signal.aborted || setState((old) => ({ ...old, problem: wordsOf(error), isLoading: false })),
    );
    return () => controller.abort();
    // The keys say when to load again; the function is a new one each time.
  }, [...keys, count]);
  const reload = useCallback(() => setCount((old) => old + 1), []);
  return { value: state.value, problem: state.problem, isLoading: state.isLoading, reload };
}

/** An action with its state: one run at a time. */
export interface Action<Arguments extends unknown[]> {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  run(...values: Arguments): void;
  clear(): void;
}

/** Make an action of a function that sends something. */
export function useAction<Arguments extends unknown[]>(
  act: (...values: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ isBusy: boolean; problem?: string }>({ isBusy: false });
  const isMounted = useRef(true);
  const isBusy = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => void (isMounted.current = false);
  }, []);
  const run = (...values: Arguments) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setState({ isBusy: true });
    const end = (problem?: string) => {
      isBusy.current = false;
      if (isMounted.current) setState({ isBusy: false, ...(problem !== undefined && { problem }) });
    };
    void act(...values).then(
      () => end(),
      (error: unknown) => end(wordsOf(error)),
    );
  };
  return { isBusy: state.isBusy, problem: state.problem, run, clear: () => setState({ isBusy: false }) };
}

/**
 * Keys of the page that are not typed into a field.
 *
 * @param keys By `event.key`; `g s` for one after another. An action that returns false leaves the key to others.
 */
export function useKeys(keys: Readonly<Record<string, () => unknown>>, isOn = true): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    if (!isOn) return;
    let before = '';
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const action =
        current.current[`${before} ${event.key}`] ?? (before === 'g' ? undefined : current.current[event.key]);
      before = event.key;
      if (action && action() !== false) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isOn]);
}

/** True if keys go into a field, or into a dialog that has keys of its own. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('[role="dialog"], [role="menu"]') !== null) return true;
  return target.matches('textarea, select, input:not([type="checkbox"]):not([type="radio"]):not([type="button"])');
}
