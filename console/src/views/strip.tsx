import { type CSSProperties, useState } from 'react';
import { useLocation } from 'wouter';
import type { AdminModel, Mark } from '../api/types';
import { counted, whole } from '../format/quantities';
import { Since } from '../parts/time';
import { consolePath } from '../api/base';
import { keyColour } from './key-colours';

/**
 * Shows the queue with one mark per request, or per group of requests if there are many. Marks slide to the left as
 * requests move up.
 */
export function Strip({ model }: { model: AdminModel }) {
  const { per_mark: perMark, marks } = model.queue!;
  const [, navigate] = useLocation();
  const [focused, setFocused] = useState<string>();
  const names = new Map(model.waiting_by_key?.map(({ key_id, name }) => [key_id, name]));
  const current = marks.find(({ request_id }) => request_id === focused);
  const move = (from: HTMLElement, by: 1 | -1): void => {
    const marks = [...from.parentElement!.querySelectorAll('a')];
    marks[marks.indexOf(from as HTMLAnchorElement) + by]?.focus();
  };
  const at = (mark: Mark): number => marks.indexOf(mark) * perMark;
  return (
    <>
      <div
        className="strip"
        style={{ '--marks': marks.length } as CSSProperties}
        role="group"
        aria-label={`Queue of ${model.id}: ${counted(model.waiting, 'request')}`}
      >
        {marks.map((mark, i) => (
          <a
            key={mark.request_id}
            href={`${consolePath}/requests/${mark.request_id}`}
            tabIndex={i === 0 ? 0 : -1}
            aria-label={`${names.get(mark.key_id) ?? 'another key'}, ${place(at(mark))}`}
            style={{ '--key': keyColour(mark.key_id), '--at': i } as CSSProperties}
            onMouseEnter={() => setFocused(mark.request_id)}
            onMouseLeave={() => setFocused(undefined)}
            onFocus={() => setFocused(mark.request_id)}
            onBlur={() => setFocused(undefined)}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              navigate(`/requests/${mark.request_id}`);
            }}
            onKeyDown={(event) => {
              if (event.key === 'ArrowRight') move(event.currentTarget, 1);
              else if (event.key === 'ArrowLeft') move(event.currentTarget, -1);
              else return;
              event.preventDefault();
            }}
          />
        ))}
      </div>
      {current !== undefined && (
        <p className="legend">
          <span>
            <i style={{ '--key': keyColour(current.key_id) } as CSSProperties} />
            {/* A screen reader would read the time every second. */}
            <span aria-live="polite">
              {names.get(current.key_id) ?? 'another key'}, {place(at(current))}
            </span>
            , waiting for <Since at={current.since} />
            {perMark > 1 && `; one mark stands for ${perMark} requests`}
          </span>
        </p>
      )}
      {current === undefined && <StripLegend model={model} isAlways />}
    </>
  );
}

const place = (position: number): string =>
  position === 0 ? 'first in the queue' : `${counted(position, 'request')} ahead of it`;

/** Shows the number of waiting requests of each key, the highest first. */
export function StripLegend({ model, isAlways = false }: { model: AdminModel; isAlways?: boolean }) {
  const keys = model.waiting_by_key?.filter(({ waiting }) => waiting > 0) ?? [];
  // The strip itself shows it, or the request under the pointer.
  if (!isAlways && model.queue !== undefined) return null;
  if (keys.length === 0) return isAlways ? <p className="legend">No request waits.</p> : null;
  const perMark = model.queue?.per_mark ?? 1;
  return (
    <p className="legend">
      {keys.map(({ key_id, name, waiting }) => (
        <span key={key_id}>
          <i style={{ '--key': keyColour(key_id) } as CSSProperties} />
          {name} {whole(waiting)}
        </span>
      ))}
      {model.order === 'arrival' && model.waiting > 1_000 && <span>of the first 1,000 requests</span>}
      {perMark > 1 && <span>one mark stands for {perMark} requests</span>}
    </p>
  );
}
