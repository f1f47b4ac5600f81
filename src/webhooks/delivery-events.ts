/** For `@OnEvent`: a try of this node has ended and is recorded. */
export const deliveryTried = 'delivery.tried';

export interface DeliveryTried {
  /** The state of the delivery since then; `pending`: it is tried again. */
  state: 'pending' | 'delivered' | 'failed' | 'ended';
  durationMs: number;
}
