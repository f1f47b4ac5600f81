import { useState } from 'react';
import { type Call, curlOf } from '../api/curl';
import { CopyButton } from './copy';
import { Dialog } from './dialog';

/** Shows the same call as a curl command: what a view read, or what a button would do. */
export function AsCurl({
  calls,
  label = 'as curl',
}: {
  calls: readonly (Call & { what?: string })[];
  label?: string;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="plain" onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Dialog title="The same from a terminal" isWide onClose={() => setOpen(false)}>
          {calls.map((call) => (
            <div className="stack" key={`${call.method} ${call.path} ${call.what}`}>
              <div className="row">
                <h3>{call.what ?? 'What this view shows'}</h3>
                <span className="end">
                  <CopyButton text={curlOf(call)} />
                </span>
              </div>
              <pre>{curlOf(call)}</pre>
            </div>
          ))}
          <p className="small muted">
            <code>$KEY</code> is an API key with the scopes that this view needs.
          </p>
          <div className="buttons">
            <button type="button" onClick={() => setOpen(false)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
