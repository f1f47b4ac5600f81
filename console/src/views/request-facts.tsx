import { Link } from 'wouter';
import type { AdminRequest } from '../api/types';
import { counted } from '../format/quantities';
import { Id } from '../parts/copy';
import { Time, Took } from '../parts/time';
import { UsageTable } from './usage-table';

/** `starts`: the number of starts, as far as it is known. */
export function Facts({ request, starts }: { request: AdminRequest; starts: number }) {
  const { metrics, key, tags, retry_of, retried_as } = request;
  const facts: [string, React.ReactNode][] = [
    [
      'Key',
      <Link key="key" href={`/requests?key_id=${key.id}`}>
        {key.name}
      </Link>,
    ],
    ['Submitted', <Time key="at" at={request.created_at} />],
  ];
  // Without the right to read payloads, the id shown is the handle itself.
  if (request.handle !== request.request_id) facts.push(['Handle', <Id key="handle" id={request.handle} />]);
  if (request.started_at) facts.push(['Last started', <Time key="at" at={request.started_at} />]);
  if (request.completed_at) facts.push(['Completed', <Time key="at" at={request.completed_at} />]);
  if (request.priority) facts.push(['Priority', request.priority]);
  // The number includes the next attempt.
  if (request.started_at) facts.push(['Attempts', counted(request.attempt, 'attempt')]);
  if (metrics.queue_time !== undefined)
    // `queue_time` includes earlier runs, which the sentence does not count as waiting.
    facts.push([
      starts > 1 ? 'Time to last start' : 'Waited',
      <Took key="took" ms={metrics.queue_time * 1_000} />,
    ]);
  if (typeof metrics.inference_time === 'number')
    facts.push([starts > 1 ? 'Last run' : 'Ran', <Took key="took" ms={metrics.inference_time * 1_000} />]);
  if (tags.length > 0) {
    const links = tags.map((tag) => (
      <Link key={tag} className="chip" href={`/requests?tag=${encodeURIComponent(tag)}`}>
        {tag}
      </Link>
    ));
    facts.push([
      'Tags',
      <span className="row" key="tags">
        {links}
      </span>,
    ]);
  }
  if (retry_of)
    facts.push([
      'Retry of',
      <Link key="r" className="id" href={`/requests/${retry_of}`}>
        {retry_of}
      </Link>,
    ]);
  if (retried_as)
    facts.push([
      'Retried as',
      <Link key="r" className="id" href={`/requests/${retried_as}`}>
        {retried_as}
      </Link>,
    ]);
  return (
    <section className="card stack" aria-label="Facts">
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {metrics.usage && <UsageTable usage={metrics.usage} />}
    </section>
  );
}
