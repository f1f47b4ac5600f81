import type { Adapter } from '../config/adapter.js';
import type { AdapterParts } from './adapter-parts.js';
import { fal } from './fal/fal.js';
import { openai } from './openai/openai.js';
import { replicate } from './replicate/replicate.js';
import { runpod } from './runpod/runpod.js';

/** Every adapter, by its name in `ADAPTERS`. */
export const adapterParts: Readonly<Record<Adapter, AdapterParts>> = { fal, openai, replicate, runpod };
