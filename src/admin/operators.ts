import { applyDecorators } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Scope } from '../auth/caller.js';
import { Limited } from '../limits/limited.js';

/** A call of operators, whose key needs this scope. */
export const Operators = (scope: Scope): MethodDecorator =>
  applyDecorators(ApiTags('Admin'), Limited(scope, { needsKey: true }));
