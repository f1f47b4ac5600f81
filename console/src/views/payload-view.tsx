import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { serviceAddress } from '../api/base';
import { bytes, counted } from '../format/quantities';
import { filesOf, mediaOf, type Shown } from '../request/payload';
import type { AnswerText } from '../request/payload-worker';
import { readPayload } from '../request/read-payload';
import { useMay } from '../parts/rights';
import { Loaded } from '../parts/states';
import { FileFigure, FileOf } from './file-figure';

/** Bytes that are read without a click. */
const atOnce = 4_000_000;
/** At most this many bytes are read into a tab. */
const atMost = 64_000_000;

interface PayloadViewProps {
  /** The path in the API, without a leading slash. */
  path: string;
  name: 'input' | 'output';
  /** The payload's size in bytes, if the service reported it. The answer itself may not state its length. */
  size?: number | null | undefined;
}

export function PayloadView({ path, name, size }: PayloadViewProps) {
  const isAllowed = useMay('payloads');
  const [max, setMax] = useState(atOnce);
  const payload = useQuery({
    queryKey: ['payload', path, max],
    queryFn: ({ signal }) => readPayload(path, max, signal),
    enabled: isAllowed,
    staleTime: Infinity,
    gcTime: 0,
  });
  const { data } = payload;
  useEffect(() => () => data?.free(), [data]);
  if (!isAllowed) {
    return <p className="notice warn">To see the {name}, your key needs the scope “payloads”.</p>;
  }
  return (
    <Loaded query={payload}>
      {({ bytes: read, shown, texts, text, rest }) => (
        <>
          <div className="row small">
            <span className="muted" title={`${Math.max(size ?? 0, read)} bytes`}>
              {bytes(Math.max(size ?? 0, read))}
            </span>
            <a href={serviceAddress(path)} download={`${name}.json`}>
              Download
            </a>
          </div>
          {shown !== undefined && <Content shown={shown} texts={texts} name={name} />}
          {shown === undefined && <pre>{text}</pre>}
          {rest > 0 && (
            <div className="notice">
              <span>
                The first {bytes(text.length)} of {bytes(Math.max(size ?? 0, read))}.
              </span>
              {max < atMost && (
                <span className="end">
                  <button type="button" onClick={() => setMax(atMost)}>
                    Load all {bytes(Math.max(size ?? 0, read))}
                  </button>
                </span>
              )}
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}

interface ContentProps {
  shown: Shown;
  texts: readonly AnswerText[];
  name: string;
}

/** Shows texts, pictures, sounds and videos first, then the whole value. */
function Content({ shown, texts, name }: ContentProps) {
  return (
    <>
      {texts.map(({ text, rest }, i) => (
        <div key={i}>
          <pre className="answer" tabIndex={0}>
            {text}
          </pre>
          {rest > 0 && <p className="small muted">… {counted(rest, 'more character')}</p>}
        </div>
      ))}
      {mediaOf(shown).map((one, i) => (
        <FileFigure key={i} {...one} label={`The ${name}`} fileName={`${name}.${endOf(one.type)}`} />
      ))}
      {filesOf(shown).map((file, i) => (
        <FileOf key={i} file={file} label={`A file of the ${name}`} />
      ))}
      {(shown.kind !== 'text' || texts.length === 0) && (
        <div className="tree">
          <Tree shown={shown} isOpen />
        </div>
      )}
    </>
  );
}

/** Returns the end of a file's name: `png`, `svg`, `gltf`. */
const endOf = (type: string): string => /\/(?:x-)?(\w+)/.exec(type)?.[1] ?? 'bin';

function Tree({ shown, isOpen = false }: { shown: Shown; isOpen?: boolean }) {
  switch (shown.kind) {
    case 'scalar':
      return shown.text;
    case 'media':
      return (
        <span className="muted">
          {shown.type}, {bytes(shown.bytes)}
        </span>
      );
    case 'file':
      return <a href={serviceAddress(shown.path)}>{shown.text}</a>;
    case 'text':
      return (
        <>
          {JSON.stringify(shown.text).slice(0, -1)}
          {shown.rest > 0 ? <span className="muted"> … {counted(shown.rest, 'more character')}</span> : '"'}
        </>
      );
    default: {
      const { entries, isArray, rest } = shown;
      const [left, right] = isArray ? '[]' : '{}';
      if (entries.length + rest === 0) return `${left}${right}`;
      return (
        <details open={isOpen}>
          <summary>
            {left}{' '}
            <span className="muted">{counted(entries.length + rest, isArray ? 'item' : 'member')}</span>{' '}
            {right}
          </summary>
          {entries.map(({ name, value }) => (
            <div key={name}>
              <span className="name">{name}:</span> <Tree shown={value} />
            </div>
          ))}
          {rest > 0 && <div className="muted">… {counted(rest, 'more one', 'more')}</div>}
        </details>
      );
    }
  }
}
