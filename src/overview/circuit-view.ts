import type { ModelCircuitDto } from './dto/circuit.dto.js';
import type { CircuitRow } from './queries/cluster-snapshot.js';

/** `open`: the open circuits of a node for one model. */
export function toCircuit(open: readonly CircuitRow[]): Pick<ModelCircuitDto, keyof ModelCircuitDto> {
  const isAway = open.some((row) => row.isAway);
  return {
    circuit: isAway ? stateOf(open.some(({ isProbing }) => isProbing)) : 'closed',
    addresses_away: open.map(({ address, reason, sinceMs, isProbing }) => ({
      address,
      reason,
      since: new Date(sinceMs).toISOString(),
      circuit: stateOf(isProbing),
    })),
  };
}

/** Returns why nodes do not reach the model. */
export const reasonOf = (open: readonly CircuitRow[]): string =>
  [...new Set(open.map(({ address, reason }) => `${address}: ${reason}`))].slice(0, maxReasons).join(' ');

const maxReasons = 3;

const stateOf = (isProbing: boolean): 'open' | 'probing' => (isProbing ? 'probing' : 'open');
