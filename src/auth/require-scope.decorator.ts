import { Reflector } from '@nestjs/core';
import type { Scope } from './caller.js';

/** The scope that a key needs for a route that is `@Limited`. */
export const RequireScope = Reflector.createDecorator<Scope>();
