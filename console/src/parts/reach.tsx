import type { AdminModel } from '../api/types';

type Reached = Pick<AdminModel['nodes'][number], 'circuit' | 'addresses_away'>;

/** Shows whether a node reaches a model, and which of its addresses the node does not reach. */
export function Reach({ circuit, addresses_away }: Reached) {
  if (circuit !== 'closed')
    return <span className="chip warn">{circuit === 'probing' ? 'no, probing' : 'no'}</span>;
  if (addresses_away.length === 0) return <span className="muted">yes</span>;
  return (
    <>
      <span className="chip warn">partly</span> {awayOf(addresses_away)}
    </>
  );
}

/** Each address with its reason: `http://gpu-2:9000: The model answered 503.` */
const awayOf = (addresses: Reached['addresses_away']): string =>
  addresses.map(({ address, reason }) => `${address}: ${reason}`).join(' ');
