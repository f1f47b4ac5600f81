import { useEffect, useRef } from 'react';
import { useOutputStream } from '../api/output-stream';
import { counted } from '../format/quantities';
import { useMay } from '../parts/rights';

/** Shows the output of a running request. */
export function GrowingView({ id }: { id: string }) {
  const isAllowed = useMay('payloads');
  const { parts, dropped, attempt } = useOutputStream(id, isAllowed);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current !== null) end.current.scrollTop = end.current.scrollHeight;
  }, [parts]);
  if (!isAllowed) {
    return (
      <p className="notice warn">To see the output a key needs the scope “payloads”, which yours has not.</p>
    );
  }
  if (parts.length === 0) return <p className="empty">There is no output yet.</p>;
  const isText = parts.length === 1 && typeof parts[0] === 'string';
  return (
    <>
      {attempt > 0 && <p className="small muted">Attempt {attempt} began it anew.</p>}
      {dropped > 0 && (
        <p className="small muted">{counted(dropped, isText ? 'character' : 'part')} before this.</p>
      )}
      <div className="growing" ref={end} tabIndex={0} role="log" aria-label="The output so far">
        {parts.map((part, i) =>
          typeof part === 'string' ? (
            <pre key={dropped + i} className="answer">
              {part}
            </pre>
          ) : (
            <pre key={dropped + i}>{JSON.stringify(part)}</pre>
          ),
        )}
      </div>
    </>
  );
}
