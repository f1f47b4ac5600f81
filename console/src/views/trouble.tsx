import type { AdminModel } from '../api/types';
import { counted } from '../format/quantities';
import { Time } from '../parts/time';

/** What is wrong, since when, what it means for those who wait, and what can be done. */
export function Trouble({ model }: { model: AdminModel }) {
  const { availability, waiting, paused, nodes } = model;
  const wait =
    waiting === 0
      ? 'Nothing waits for it'
      : `${counted(waiting, 'request')} wait${waiting === 1 ? 's' : ''}, none is lost`;
  if (paused.current !== false) {
    return (
      <p className="trouble paused">
        Paused{paused.overridden_by !== null && ` by ${paused.overridden_by}`}
        {paused.overridden_at !== null && (
          <>
            {' '}
            since <Time at={paused.overridden_at} />
          </>
        )}
        : nothing is started.{' '}
        {paused.current === 'hold' ? 'New requests are taken and wait.' : 'New requests are refused.'} {wait}.
      </p>
    );
  }
  if (availability === 'unavailable' && model.kind === 'worker') {
    return (
      <p className="trouble">
        No worker asks for it
        {model.unavailable_since !== null && (
          <>
            {' '}
            since <Time at={model.unavailable_since} />
          </>
        )}
        : start one. {wait}.
      </p>
    );
  }
  if (availability === 'unavailable') {
    return (
      <p className="trouble">
        Out of reach
        {model.unavailable_since !== null && (
          <>
            {' '}
            since <Time at={model.unavailable_since} />
          </>
        )}
        {model.unavailable_reason ? `: ${model.unavailable_reason.replace(/\.$/, '')}` : ''}. {wait}; it goes
        on as soon as the model answers: see that it runs at that address, or pause it to refuse what is new.
      </p>
    );
  }
  const open = nodes.filter(({ circuit }) => circuit !== 'closed');
  if (open.length > 0) {
    return (
      <p className="trouble">
        {open.map(({ name }) => name).join(', ')} cannot reach it; the others run its share.
      </p>
    );
  }
  const addresses = new Set(
    nodes.flatMap(({ addresses_away }) => addresses_away.map(({ address }) => address)),
  );
  if (addresses.size > 0) {
    return (
      <p className="trouble">
        {[...addresses].join(', ')} cannot be reached; the model's other addresses run its share.
      </p>
    );
  }
  return null;
}
