import type { ReactNode } from 'react';

export interface Column<T> {
  title: string;
  className?: string;
  cell: (row: T) => ReactNode;
}

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  isSelected?: (row: T) => boolean;
  empty?: ReactNode;
}

/** A table on a desk, cards on a phone. `j` and `k` go through what `data-row` marks in it. */
export function Table<T>({ label, columns, rows, rowKey, isSelected, empty }: TableProps<T>) {
  if (rows.length === 0) return <p className="empty">{empty ?? 'There is nothing here yet.'}</p>;
  return (
    <table className="table" aria-label={label}>
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
          <tr key={rowKey(row)} aria-selected={isSelected === undefined ? undefined : isSelected(row)}>
            {columns.map(({ title, className, cell }, i) => (
              <td key={i} className={className} data-label={title}>
                <div className="cell">{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
