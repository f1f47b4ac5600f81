import type { Caller } from '../auth/caller.js';

/** Who changes something, and from where. */
export interface Actor {
  /** null: nobody's key, such as a failed sign-in or the command line. */
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

/** The service itself, by what it was told: a changed file, a signal. */
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
