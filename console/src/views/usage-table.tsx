import { whole } from '../format/quantities';
import { type Column, Table } from '../parts/table';

type Entry = [name: string, amount: number];

/** Shows the usage of the last run, such as tokens. */
export function UsageTable({ usage }: { usage: Readonly<Record<string, number>> }) {
  return (
    <div className="usage">
      <Table
        label="Usage"
        rows={Object.entries(usage)}
        rowKey={([name]) => name}
        columns={columns}
        cardsBelow={0}
      />
    </div>
  );
}

const columns: readonly Column<Entry>[] = [
  { title: 'Usage', cell: ([name]) => <code>{name}</code> },
  { title: 'Amount', className: 'tight number', cell: ([, amount]) => whole(amount) },
];
