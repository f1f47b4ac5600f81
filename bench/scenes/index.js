import { scene as submit } from './submit.js';

/** In the order of their numbers. */
export const scenes = [submit];
