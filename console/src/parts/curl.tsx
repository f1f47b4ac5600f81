import { useState } from 'react';
import { type Call, curlOf } from '../api/curl';
import { CopyButton } from './copy';
import { Dialog } from './dialog';

/** Shows curl commands for the calls that a view makes or a button would make. */
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
        <Dialog title="The same calls with curl" isWide onClose={() => setOpen(false)}>
          {calls.map((call) => (
            <div className="stack" key={`${call.method} ${call.path} ${call.what}`}>
              <div className="row">
                <h3>{call.what ?? 'Data of this view'}</h3>
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
