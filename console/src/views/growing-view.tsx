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
  return (
    <>
      {attempt > 0 && <p className="small muted">Attempt {attempt} started the output again.</p>}
      {dropped > 0 && <p className="small muted">Not shown: {counted(dropped, 'earlier character')}.</p>}
      <div className="growing" ref={end} tabIndex={0} role="log" aria-label="Output so far">
        {parts.map(({ at, text, isJson, rest }) => (
          <pre key={at} className={isJson ? undefined : 'answer'}>
            {text}
            {rest > 0 && <span className="muted"> … {counted(rest, 'more character')}</span>}
          </pre>
        ))}
      </div>
    </>
  );
}
