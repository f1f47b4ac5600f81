import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { listKeys, listSessions } from '../api/calls';
import type { AuditEntry } from '../api/types';

type Names = ReadonlyMap<string, string>;

/**
 * Returns the names of keys and sessions, for which the audit has only ids. Only the first page of each list is read,
 * so older ones may be missing.
 */
export function useTargetNames(): Names {
  const keys = useQuery({
    queryKey: ['keys', 'first'],
    queryFn: ({ signal }) => listKeys(undefined, signal),
  });
  const sessions = useQuery({
    queryKey: ['sessions', 'first'],
    queryFn: ({ signal }) => listSessions(undefined, signal),
  });
  return new Map([
    ...(keys.data?.data ?? []).map(({ id, name }): [string, string] => [id, name]),
    ...(sessions.data?.data ?? []).map(({ id, name }): [string, string] => [id, `session of ${name ?? '–'}`]),
  ]);
}

/** Shows the target of an action by its name, with a link, if they are known. */
export function Target({
  entry: { action, target, actor, after },
  named,
}: {
  entry: AuditEntry;
  named: Names;
}) {
  if (target === null) return null;
  const [kind] = action.split('.');
  const link = (href: string, text = target) => (
    <Link href={href} title={target}>
      {text}
    </Link>
  );
  switch (kind) {
    case 'model':
      return link(`/models/${target}`);
    case 'request':
    case 'payload':
      return link(`/requests/${encodeURIComponent(target)}`, shortened(target));
    case 'batch':
      return link(`/batches/${target}`, shortened(target));
    case 'node':
      return link('/nodes');
    case 'key': {
      const name = named.get(target) ?? after?.['name'];
      return link(`/requests?key_id=${target}`, typeof name === 'string' ? name : shortened(target));
    }
    case 'session': {
      const name = named.get(target) ?? (action === 'session.begin' ? `session of ${actor.name}` : undefined);
      return <span title={target}>{name ?? shortened(target)}</span>;
    }
    default:
      return target;
  }
}

const shortened = (id: string): string => (id.length > 24 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);
