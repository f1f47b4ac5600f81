import { useQuery } from '@tanstack/react-query';
import { serviceAddress } from '../api/base';
import { readFileFacts } from '../api/calls';
import { bytes as size } from '../format/quantities';
import { Loaded } from '../parts/states';
import { elementFor, type ShownFile } from '../request/payload';

interface FileFigureProps {
  type: string;
  bytes: number;
  url: string;
  /** The address for the element that shows the file. undefined: `url`. */
  source?: string;
  /** What the file is, for screen readers. */
  label: string;
  fileName: string;
}

/** Shows a picture, a sound or a video, and a link to download any file. */
export function FileFigure({ type, bytes, url, source = url, label, fileName }: FileFigureProps) {
  return (
    <figure className="media">
      <Media type={type} url={source} label={`${label}, ${type}`} />
      <figcaption className="small">
        <a href={url} download={fileName}>
          {elementFor(type) === undefined ? `Download ${fileName}` : fileName}
        </a>{' '}
        <span className="muted" title={`${bytes} bytes`}>
          {type}, {size(bytes)}
        </span>
      </figcaption>
    </figure>
  );
}

/** Shows a file of the service. If the payload does not state its type and size, they are read from the service. */
export function FileOf({ file: { path, type, bytes }, label }: { file: ShownFile; label: string }) {
  const facts = useQuery({
    queryKey: ['file', path],
    queryFn: ({ signal }) =>
      type !== undefined && bytes !== undefined ? { type, bytes } : readFileFacts(path, signal),
    // A stored file never changes.
    staleTime: Infinity,
  });
  return (
    <Loaded query={facts} rows={1}>
      {(known) => <FileFigure {...known} url={serviceAddress(path)} label={label} fileName={nameIn(path)} />}
    </Loaded>
  );
}

function nameIn(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function Media({ type, url, label }: { type: string; url: string; label: string }) {
  switch (elementFor(type)) {
    // The model decides what a video contains, so there are no captions.
    case 'video':
      return <video src={url} controls aria-label={label} muted />;
    case 'audio':
      return <audio src={url} controls aria-label={label} />;
    case 'img':
      return <img src={url} alt={label} />;
    case undefined:
      return null;
  }
}
