/**
 * Dark or light: as the system has it, until a person chooses.
 */
import { useState } from 'react';
import { TEXTS } from '../texts.ts';
import { Icon } from './icons.tsx';

type Theme = 'system' | 'dark' | 'light';

const KEY = 'gauntlet.theme';
const THEMES: readonly Theme[] = ['system', 'dark', 'light'];

/** Draw the page in the colours that were chosen before. */
export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Chooses the colours. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (next: Theme) => {
    localStorage.setItem(KEY, next);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <label className="theme">
      <Icon name="theme" />
      <span className="hidden">{TEXTS.nav.theme.label}</span>
      <select value={theme} onChange={(event) => choose(event.target.value as Theme)}>
        {THEMES.map((each) => (
          <option key={each} value={each}>
            {TEXTS.nav.theme[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}
