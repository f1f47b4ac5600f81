import { useState } from 'react';
import { serviceUrl } from '../api/base';
import { CopyButton } from './copy';
import { Dialog } from './dialog';

export interface Call {
  method?: string;
  /** Without a slash in front. */
  path: string;
  body?: unknown;
  stream?: boolean;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf({ method = 'GET', path, body, stream = false }: Call): string {
  const parts = [
    `curl ${stream ? '-N ' : ''}${method === 'GET' || (method === 'POST' && body !== undefined) ? '' : `-X ${method} `}${quoted(serviceUrl + path)}`,
    `-H "Authorization: Key $KEY"`,
  ];
  if (body !== undefined)
    parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}

/** The same from a terminal: what a view read, or what a button would do. */
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
