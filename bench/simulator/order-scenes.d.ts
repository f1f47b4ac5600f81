export interface Order {
  WaitingIndex: unknown;
  ticksFor: unknown;
}

export interface OrderScene {
  busy: number;
}

export const orderScenes: Record<string, OrderScene>;

export function playOrder(
  order: Order,
  scene: OrderScene,
  options: { seed: number; slots: number; lateMs?: [number, number]; windows?: number },
): {
  /** undefined: no key always has work. */
  jain: number | undefined;
  newcomers: number;
  /** As a fraction of the bound. */
  longestNewcomer: number;
  longestPause: number;
  starts: number;
};
