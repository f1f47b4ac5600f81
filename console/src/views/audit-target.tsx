import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { listKeys, listSessions } from '../api/calls';
import type { AuditEntry } from '../api/types';

type Names = ReadonlyMap<string, string>;

/** Of keys and sessions, which have ids alone in the audit; older ones may be unknown by now. */
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

/** What was done to what, by its name and with a way there, where that is known. */
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
