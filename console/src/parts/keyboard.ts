import { useEffect, useRef } from 'react';

type Bindings = Readonly<Record<string, (() => void) | undefined>>;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null;

/** Binds single keys. They do nothing while the user types or a dialog is open. */
export function useKeys(bindings: Bindings): void {
  const current = useRef(bindings);
  useEffect(() => {
    current.current = bindings;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const act = current.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Moves the focus to the next (1) or the previous (-1) row of a list. */
export function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex(
    (row) => row === document.activeElement || row.closest('tr')?.contains(document.activeElement),
  );
  const next = at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by;
  rows[next]?.focus();
  rows[next]?.scrollIntoView({ block: 'nearest' });
}

/** Selects or deselects the focused row. */
export function markRow(): void {
  document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
}
