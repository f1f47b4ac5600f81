/** Wire forms of other services that the calls can be served in besides. */
export const adapters = ['fal'] as const;

export type Adapter = (typeof adapters)[number];
