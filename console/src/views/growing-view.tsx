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
    return <p className="notice warn">To see the output, your key needs the scope “payloads”.</p>;
  }
  if (parts.length === 0) return <p className="empty">No output yet.</p>;
  const isText = parts.length === 1 && typeof parts[0] === 'string';
  return (
    <>
      {attempt > 0 && <p className="small muted">Attempt {attempt} started the output again.</p>}
      {dropped > 0 && (
        <p className="small muted">
          Not shown: {counted(dropped, isText ? 'earlier character' : 'earlier part')}.
        </p>
      )}
      <div className="growing" ref={end} tabIndex={0} role="log" aria-label="Output so far">
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
