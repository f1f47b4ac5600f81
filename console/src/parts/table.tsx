import { memo, type ReactNode } from 'react';
import { useIsBelow } from './page-width';

export interface Column<T> {
  title: string;
  className?: string;
  cell: (row: T, isSelected: boolean) => ReactNode;
}

interface TableProps<T> {
  label: string;
  /** Unchanged rows are not rendered again if this array keeps its identity. */
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  isSelected?: (row: T) => boolean;
  empty?: ReactNode;
  /** On a phone, each row takes a few lines, without labels for values that need none. */
  isBrief?: boolean;
  /** Page width in pixels below which rows become cards, because the columns no longer fit. */
  cardsBelow?: number;
}

/** A table on wide pages, cards on narrow ones. `j` and `k` move through its elements with `data-row`. */
export function Table<T>({
  label,
  columns,
  rows,
  rowKey,
  isSelected,
  empty,
  isBrief = false,
  cardsBelow = 640,
}: TableProps<T>) {
  const isCards = useIsBelow(cardsBelow);
  if (rows.length === 0) return <p className="empty">{empty ?? 'No entries yet.'}</p>;
  return (
    <table
      className={`table${isCards ? ' cards' : ''}${isCards && isBrief ? ' brief' : ''}`}
      aria-label={label}
    >
      <thead>
        <tr>
          {columns.map(({ title, className }, i) => (
            <th key={i} scope="col" className={className}>
              {title === '' ? <span className="hidden">Actions</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={rowKey(row)} row={row} columns={columns} isSelected={isSelected?.(row)} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps<T> {
  row: T;
  columns: readonly Column<T>[];
  isSelected: boolean | undefined;
}

const Row = memo(function Row<T>({ row, columns, isSelected }: RowProps<T>) {
  return (
    <tr aria-selected={isSelected}>
      {columns.map(({ title, className, cell }, i) => (
        <td key={i} className={className} data-label={title}>
          <div className="cell">{cell(row, isSelected ?? false)}</div>
        </td>
      ))}
    </tr>
  );
}) as <T>(props: RowProps<T>) => ReactNode;
