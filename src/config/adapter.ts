/** Other services whose wire format the API also serves. */
export const adapters = ['fal'] as const;

export type Adapter = (typeof adapters)[number];
