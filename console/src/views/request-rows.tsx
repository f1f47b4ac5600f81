import { useMemo } from 'react';
import { Link } from 'wouter';
import { serviceAddress } from '../api/base';
import { requestPath } from '../api/calls';
import type { AdminRequest } from '../api/types';
import { CopyButton } from '../parts/copy';
import { codeOf, shownState, State } from '../parts/request-state';
import { useMay } from '../parts/rights';
import { type Column, Table } from '../parts/table';
import { Ago, Took } from '../parts/time';

interface RowsProps {
  rows: readonly AdminRequest[];
  marked: ReadonlySet<string>;
  onToggle: (id: string) => void;
  /** Shows why each request failed. */
  hasReasons: boolean;
}

export function Rows({ rows, marked, onToggle, hasReasons }: RowsProps) {
  const hasPictures = useMay('payloads') && rows.some(isPicture);
  const columns = useMemo(
    () => columnsOf(onToggle, hasPictures, hasReasons),
    [onToggle, hasPictures, hasReasons],
  );
  return (
    <Table
      label="Requests, newest first"
      columns={columns}
      rows={rows}
      rowKey={({ request_id }) => request_id}
      isSelected={({ request_id }) => marked.has(request_id)}
      empty="No request matches these filters."
      isBrief
      cardsBelow={hasReasons ? 1240 : 1000}
    />
  );
}

function columnsOf(
  onToggle: (id: string) => void,
  hasPictures: boolean,
  hasReasons: boolean,
): Column<AdminRequest>[] {
  return [
    {
      title: 'Select',
      className: 'tight',
      cell: ({ request_id: id }, isMarked) => (
        <input type="checkbox" aria-label={`Select ${id}`} checked={isMarked} onChange={() => onToggle(id)} />
      ),
    },
    {
      title: 'Request',
      className: 'tight',
      cell: ({ request_id: id }) => (
        <span className="copy">
          <Link href={`/requests/${id}`} className="id" data-row="" title={id}>
            {id.slice(0, 8)}…{id.slice(-4)}
          </Link>
          <CopyButton text={id} />
        </span>
      ),
    },
    {
      title: 'State',
      className: 'tight',
      cell: (request) => <State state={shownState(request)} note={codeOf(request)} />,
    },
    ...(hasReasons
      ? [{ title: 'Error', className: 'cut why', cell: ({ error }: AdminRequest) => <Why error={error} /> }]
      : []),
    {
      title: 'Model',
      className: hasReasons ? 'tight name' : 'cut',
      cell: ({ model_id: id }) => (
        <Link href={`/models/${id}`} title={id}>
          {id}
        </Link>
      ),
    },
    { title: 'Key', className: 'tight name', cell: ({ key }) => <Named name={key.name ?? '–'} /> },
    { title: 'Node', className: 'tight name', cell: ({ node }) => node !== null && <Named name={node} /> },
    { title: 'Submitted', className: 'tight', cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      title: 'Waited',
      className: 'tight number',
      cell: ({ metrics }) => <Took ms={inMs(metrics.queue_time)} />,
    },
    {
      title: 'Ran',
      className: 'tight number',
      cell: ({ metrics }) => <Took ms={inMs(metrics.inference_time)} />,
    },
    ...(hasPictures ? [{ title: 'Output', className: 'tight', cell: thumbnail }] : []),
  ];
}

const Named = ({ name }: { name: string }) => <span title={name}>{name}</span>;
/** Shortens the message so that the model's own text comes first in a narrow column. */
const Why = ({ error }: Pick<AdminRequest, 'error'>) => (
  <span title={error?.message}>{error?.message.replace(/^The model answered (\d+): /, '$1 ')}</span>
);

const thumbnail = (request: AdminRequest) =>
  isPicture(request) && (
    <img
      className="thumb"
      loading="lazy"
      decoding="async"
      alt=""
      src={serviceAddress(`${requestPath(request.request_id)}/picture`)}
    />
  );

const isPicture = ({ output_type: type }: AdminRequest): boolean => type?.startsWith('image/') ?? false;
const inMs = (seconds: number | null | undefined): number | undefined =>
  typeof seconds === 'number' ? seconds * 1_000 : undefined;
