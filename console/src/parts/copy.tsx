import { useEffect, useRef, useState } from 'react';

/** Browsers allow the clipboard only on pages over HTTPS and on localhost. Elsewhere a selection is copied. */
async function copyText(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'hidden';
    // A dialog denies focus to elements outside it, and without focus there is no selection.
    beside.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}

export function CopyButton({ text, what = 'Copy' }: { text: string; what?: string }) {
  const [said, setSaid] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <button
      type="button"
      className="plain"
      onClick={({ currentTarget }) => {
        void copyText(text, currentTarget.parentElement ?? document.body).then((isDone) => {
          setSaid(isDone ? 'Copied' : 'Select and press Ctrl+C');
          clearTimeout(timer.current);
          timer.current = setTimeout(() => setSaid(undefined), 2_000);
        });
      }}
    >
      <span aria-live="polite">{said ?? what}</span>
    </button>
  );
}

/** An id, shortened where space is short. Always copied whole. */
export function Id({ id, isShort = false }: { id: string; isShort?: boolean }) {
  return (
    <span className="copy">
      <span className="id" title={id}>
        {isShort && id.length > 13 ? `${id.slice(0, 8)}…` : id}
      </span>
      <CopyButton text={id} />
    </span>
  );
}
