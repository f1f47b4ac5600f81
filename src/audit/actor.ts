import type { Caller } from '../auth/caller.js';

/** The key or session that makes a change, and the address that its call comes from. */
export interface Actor {
  /** null: there is no key, such as for a failed sign-in or the command line. */
  keyId: string | null;
  name: string;
  sessionId: string | null;
  address: string | null;
  userAgent: string | null;
  httpRequestId: string | null;
}

export const commandLine: Actor = {
  keyId: null,
  name: 'command line',
  sessionId: null,
  address: null,
  userAgent: null,
  httpRequestId: null,
};

/** The service itself, when a changed file or a signal makes it act. */
export const ownNode = (nodeName: string): Actor => ({ ...commandLine, name: `node ${nodeName}` });

export const actorKey = ({
  keyId,
  name,
  sessionId,
}: Caller): Pick<Actor, 'keyId' | 'name' | 'sessionId'> => ({
  keyId,
  name,
  sessionId: sessionId ?? null,
});
