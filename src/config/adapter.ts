/** Other services whose API is also served, each below a path of its own. `adapters/adapters.ts` has their parts. */
export const adapters = ['fal', 'openai', 'replicate', 'runpod'] as const;

export type Adapter = (typeof adapters)[number];
