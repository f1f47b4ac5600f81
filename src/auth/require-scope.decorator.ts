import { Reflector } from '@nestjs/core';
import type { Scope } from './caller.js';

/** The scope that a key needs for a route guarded by `AccessGuard`. */
export const RequireScope = Reflector.createDecorator<Scope>();
