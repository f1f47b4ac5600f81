import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { serviceAddress } from '../api/base';
import { bytes, counted } from '../format/quantities';
import { mediaOf, type Shown, shownFilesOf } from '../request/payload';
import { readPayload } from '../request/read-payload';
import { useMay } from '../parts/rights';
import { Loaded } from '../parts/states';

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
    return (
      <p className="notice warn">To see the {name} a key needs the scope “payloads”, which yours has not.</p>
    );
  }
  return (
    <Loaded query={payload}>
      {({ bytes: read, shown, text, rest }) => (
        <>
          <div className="row small">
            <span className="muted" title={`${Math.max(size ?? 0, read)} bytes`}>
              {bytes(Math.max(size ?? 0, read))}
            </span>
            <a href={serviceAddress(path)} download={`${name}.json`}>
              Download
            </a>
          </div>
          {shown !== undefined && <Content shown={shown} name={name} />}
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

function Content({ shown, name }: { shown: Shown; name: string }) {
  const media = mediaOf(shown);
  const files = shownFilesOf(shown);
  return (
    <>
      {media.map((one, i) => (
        <figure className="media" key={i}>
          <Media type={one.type} url={one.url} label={`The ${name}, ${one.type}`} />
          <figcaption className="small muted">
            {one.type}, {bytes(one.bytes)}
          </figcaption>
        </figure>
      ))}
      {files.map(({ path, type }, i) => (
        <figure className="media" key={`file ${i}`}>
          <Media type={type} url={serviceAddress(path)} label={`A file of the ${name}, ${type}`} />
          <figcaption className="small muted">
            <a href={serviceAddress(path)}>{type}</a>
          </figcaption>
        </figure>
      ))}
      <div className="tree">
        <Tree shown={shown} isOpen />
      </div>
    </>
  );
}

function Media({ type, url, label }: { type: string; url: string; label: string }) {
  // The model decides what a video contains, so there are no captions.
  if (type.startsWith('video/')) return <video src={url} controls aria-label={label} muted />;
  if (type.startsWith('audio/')) return <audio src={url} controls aria-label={label} />;
  return <img src={url} alt={label} />;
}

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
