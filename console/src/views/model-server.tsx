import type { AdminModel } from '../api/types';
import { Table } from '../parts/table';
import { Time } from '../parts/time';

interface Address {
  address: string;
  /** The nodes that do not reach it. */
  away: { node: string; reason: string; since: string; isProbing: boolean }[];
}

/** Shows the preset of a model, the addresses of its servers, and which nodes reach them. */
export function ModelServer({ model }: { model: AdminModel }) {
  const { preset, addresses, nodes, circuit } = model;
  // Workers and the service itself run models without an address.
  if (addresses.length === 0) return null;
  const rows = addresses.map((address) => ({
    address,
    away: nodes.flatMap(({ name, addresses_away }) =>
      addresses_away
        .filter((one) => one.address === address)
        .map(({ reason, since, circuit }) => ({
          node: name,
          reason,
          since,
          isProbing: circuit === 'probing',
        })),
    ),
  }));
  return (
    <section className="card stack" aria-label="Server">
      <div className="row">
        <h2>Server</h2>
        <span className="muted">Preset: {preset ?? 'none'}</span>
      </div>
      <Table
        label="Addresses"
        rows={rows}
        rowKey={({ address }) => address}
        columns={[
          { title: 'Address', className: 'wraps', cell: ({ address }) => <code>{address}</code> },
          {
            title: 'Health',
            cell: ({ away }) =>
              circuit === 'off' ? (
                <span className="muted">not checked (circuit: off)</span>
              ) : (
                <Health away={away} nodes={nodes.length} />
              ),
          },
        ]}
      />
    </section>
  );
}

function Health({ away, nodes }: Pick<Address, 'away'> & { nodes: number }) {
  if (nodes === 0) return <span className="muted">No node runs requests.</span>;
  if (away.length === 0) return <span className="muted">reached</span>;
  const since = away.map((one) => one.since).sort()[0]!;
  const by = away.length === nodes ? '' : ` by ${away.map(({ node }) => node).join(', ')}`;
  return (
    <>
      <span className="chip warn">
        not reached{by}
        {away.some(({ isProbing }) => isProbing) && ', probing'}
      </span>{' '}
      since <Time at={since} />: {[...new Set(away.map(({ reason }) => reason))].join(' ')}
    </>
  );
}
